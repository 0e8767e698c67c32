// Writes one line of JSON for each key and value of Apicurio's Avro serializer, in binary and as JSON, by headers and in
// front: what `encodings.json` beside this file holds. README.md says how it is run.

import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;

public class Encodings {
    static final String SCHEMA = "{\"type\":\"record\",\"name\":\"Visit\",\"fields\":[{\"name\":\"id\",\"type\":\"int\"},"
            + "{\"name\":\"note\",\"type\":[\"null\",\"string\"]},{\"name\":\"data\",\"type\":\"bytes\"}]}";

    public static void main(String[] args) throws Exception {
        GenericRecord visit = new GenericData.Record(new Schema.Parser().parse(SCHEMA));
        visit.put("id", 7);
        visit.put("note", "hi");
        visit.put("data", java.nio.ByteBuffer.wrap(new byte[] {1, (byte) 0xff}));
        for (String encoding : new String[] {"BINARY", "JSON"}) {
            for (boolean headers : new boolean[] {false, true}) {
                for (boolean key : new boolean[] {false, true}) {
                    Map<String, Object> config = new HashMap<>();
                    config.put("apicurio.registry.url", args[0]);
                    config.put("apicurio.registry.auto-register", true);
                    config.put("apicurio.registry.headers.enabled", headers);
                    config.put("apicurio.registry.avro.encoding", encoding);
                    var serializer = new AvroKafkaSerializer<GenericRecord>();
                    serializer.configure(config, key);
                    RecordHeaders given = new RecordHeaders();
                    print(encoding, key ? "key" : "value", given, serializer.serialize("visits", given, visit));
                    serializer.close();
                }
            }
        }
    }

    static void print(String encoding, String part, RecordHeaders headers, byte[] data) {
        StringBuilder line = new StringBuilder();
        String before = "";
        for (Header header : headers) {
            line.append(before).append("[\"" + header.key() + "\",\"" + base64(header.value()) + "\"]");
            before = ",";
        }
        System.out.println("{\"encoding\":\"" + encoding + "\",\"part\":\"" + part + "\",\"headers\":[" + line
                + "],\"data\":\"" + base64(data) + "\"}");
    }

    static String base64(byte[] data) {
        return Base64.getEncoder().encodeToString(data);
    }
}
