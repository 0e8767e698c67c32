import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.server.common.MetadataVersion;

/** Prints Kafka's error codes and the levels of metadata.version, one a line, for watch.py. */
public class KafkaTables {
    public static void main(String[] unused) {
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            System.out.println("error " + error.code() + " " + error.name() + " " + retriable);
        }
        for (MetadataVersion version : MetadataVersion.VERSIONS) {
            if (version.isProduction()) {
                System.out.println("level " + version.featureLevel() + " " + version);
            }
        }
    }
}
