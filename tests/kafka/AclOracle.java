import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;

/**
 * Decisions of Kafka's own authorizer. A line of stdin has ACLs of topics behind one another, each of five words (name,
 * pattern, principal, host, operation and permission, joined by commas), then a tab and the question: principal, client
 * address, operation, topic. A line of stdout is the answer.
 */
public class AclOracle {
    public static void main(String[] arguments) throws Exception {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String[] halves = lines.nextLine().split("\t");
            Map<Uuid, StandardAcl> acls = new HashMap<>();
            for (String text : halves[0].split(" ")) {
                if (!text.isEmpty()) {
                    String[] words = text.split(",");
                    acls.put(Uuid.randomUuid(), new StandardAcl(
                        ResourceType.TOPIC, words[0], PatternType.valueOf(words[1].toUpperCase()), words[2], words[3],
                        AclOperation.fromString(words[4]), AclPermissionType.fromString(words[5])));
                }
            }
            StandardAuthorizer authorizer = new StandardAuthorizer();
            authorizer.configure(Map.of("node.id", "1"));
            authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
            authorizer.loadSnapshot(acls);
            authorizer.completeInitialLoad();
            String[] asked = halves[1].split(",");
            ResourcePattern topic = new ResourcePattern(ResourceType.TOPIC, asked[3], PatternType.LITERAL);
            Action action = new Action(AclOperation.fromString(asked[2]), topic, 1, false, false);
            System.out.println(authorizer.authorize(new Client(asked[0], InetAddress.getByName(asked[1])), List.of(action)).get(0));
        }
    }

    private record Client(String name, InetAddress address) implements AuthorizableRequestContext {
        public String listenerName() {
            return "CLIENT";
        }

        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.PLAINTEXT;
        }

        public KafkaPrincipal principal() {
            return new KafkaPrincipal("User", name.substring("User:".length()));
        }

        public InetAddress clientAddress() {
            return address;
        }

        public int requestType() {
            return 0;
        }

        public int requestVersion() {
            return 0;
        }

        public String clientId() {
            return "";
        }

        public int correlationId() {
            return 0;
        }
    }
}
