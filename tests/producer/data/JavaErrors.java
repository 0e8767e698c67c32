import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

/** Every error code as Kafka's own client classes it: number, name, retriable or not.
 *  java -cp 'kafka-clients-4.3.1.jar:slf4j-api.jar' JavaErrors.java > java_errors.txt */
public class JavaErrors {
    public static void main(String[] args) {
        for (Errors error : Errors.values()) {
            boolean retriable = error.exception() instanceof RetriableException;
            System.out.println(error.code() + " " + error.name() + " " + (retriable ? "retriable" : "final"));
        }
    }
}
