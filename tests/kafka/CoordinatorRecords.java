import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Scanner;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;

/** Records of __consumer_offsets, the key and the value in hex on a line of stdin: each value as Kafka's own JSON. */
public class CoordinatorRecords {
    public static void main(String[] arguments) {
        var serde = new GroupCoordinatorRecordSerde();
        var hex = HexFormat.of();
        var lines = new Scanner(System.in);
        while (lines.hasNext()) {
            var record = serde.deserialize(ByteBuffer.wrap(hex.parseHex(lines.next())), ByteBuffer.wrap(hex.parseHex(lines.next())));
            var value = record.value();
            System.out.println(CoordinatorRecordJsonConverters.writeRecordValueAsJson(value.message(), value.version()));
        }
    }
}
