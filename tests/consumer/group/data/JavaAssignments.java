// Writes java_assignments.json: inputs for the consumer group assignors and what Kafka's own classes answer.
// java -cp '<kafka libs>/*' JavaAssignments.java java_assignments.json 100
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.common.*;

public class JavaAssignments {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Node[] NODES = {new Node(0, "h", 1, "r0"), new Node(1, "h", 1, "r1"), new Node(2, "h", 1, "r2"), new Node(3, "h", 1)};

    static final class Member {
        String id, instance, rack;
        List<String> topics = new ArrayList<>();
        List<TopicPartition> owned = new ArrayList<>();
        int generation = -1;
        int userData;  // 0 none, 1 sticky v0, 2 sticky v1, 3 rubbish, 4 generation (cooperative)
    }

    static ByteBuffer userData(Member m, boolean sticky) {
        if (m.userData == 0) return null;
        ByteBuffer b = ByteBuffer.allocate(65536);
        if (m.userData == 3) b.put((byte) 9);
        else if (!sticky) b.putInt(m.generation);
        else {
            Map<String, List<Integer>> byTopic = new LinkedHashMap<>();
            for (TopicPartition tp : m.owned) byTopic.computeIfAbsent(tp.topic(), t -> new ArrayList<>()).add(tp.partition());
            b.putInt(byTopic.size());
            byTopic.forEach((t, ps) -> {
                byte[] name = t.getBytes(StandardCharsets.UTF_8);
                b.putShort((short) name.length).put(name).putInt(ps.size());
                ps.forEach(b::putInt);
            });
            if (m.userData == 2) b.putInt(m.generation);
        }
        b.flip();
        return b;
    }

    static ArrayNode names(Collection<TopicPartition> tps) {
        ArrayNode out = JSON.createArrayNode();
        for (TopicPartition tp : tps) out.add(tp.topic() + ":" + tp.partition());
        return out;
    }

    static Map<String, List<TopicPartition>> run(ConsumerPartitionAssignor assignor, Cluster cluster, List<Member> members) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        boolean sticky = assignor instanceof StickyAssignor;
        boolean cooperative = assignor instanceof CooperativeStickyAssignor;
        for (Member m : members) {
            ByteBuffer data = sticky || cooperative ? userData(m, sticky) : null;
            int generation = cooperative && m.userData != 0 ? -1 : m.generation;  // else: protocol v2 tells it
            Subscription s = new Subscription(m.topics, data, sticky ? List.of() : m.owned, generation, Optional.ofNullable(m.rack));
            s.setGroupInstanceId(Optional.ofNullable(m.instance));
            subscriptions.put(m.id, s);
        }
        Map<String, List<TopicPartition>> out = new TreeMap<>();
        assignor.assign(cluster, new GroupSubscription(subscriptions)).groupAssignment()
            .forEach((id, a) -> out.put(id, new ArrayList<>(a.partitions())));
        return out;
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(args[0]), false, "UTF-8");
        out.println("[");
        boolean first = true;
        int chains = Integer.parseInt(args[1]);
        for (int seed = 0; seed < chains; seed++) {
            Random r = new Random(seed);
            boolean racks = seed % 3 == 1, sameTopics = seed % 2 == 0, dirty = seed % 5 == 4;
            int big = seed % 17 == 16 ? 4 : 1;
            List<String> topics = new ArrayList<>();
            Map<String, Integer> counts = new HashMap<>();
            for (int i = 0, n = 1 + r.nextInt(5 * big); i < n; i++) {
                String name = new String[] {"orders", "t", "payments.v", "clicks_", "Ω"}[r.nextInt(5)] + r.nextInt(40);
                if (!topics.contains(name)) topics.add(name);
                counts.put(name, 1 + r.nextInt(7));
            }
            List<Member> members = new ArrayList<>();
            int nextId = 0, generation = 1 + r.nextInt(3);
            for (int i = 0, n = 1 + r.nextInt(6 * big); i < n; i++) members.add(member(r, nextId++, topics, sameTopics, racks));
            for (int step = 0; step < 3; step++) {
                List<PartitionInfo> infos = new ArrayList<>();
                ObjectNode layout = JSON.createObjectNode();
                for (String t : topics) {
                    if (r.nextInt(12) == 0) continue;  // no metadata
                    ArrayNode where = layout.putArray(t);
                    for (int p = 0; p < counts.get(t); p++) {
                        Node a = NODES[r.nextInt(4)], b = NODES[r.nextInt(4)];
                        Node[] replicas = racks ? new Node[] {a, b} : new Node[] {NODES[3]};
                        infos.add(new PartitionInfo(t, p, replicas[0], replicas, replicas));
                        ArrayNode rs = where.addArray();
                        for (Node x : replicas) if (x.rack() != null) rs.add(x.rack());
                    }
                }
                Cluster cluster = new Cluster("c", List.of(NODES), infos, Set.of(), Set.of());
                ObjectNode one = JSON.createObjectNode();
                one.set("topics", layout);
                ArrayNode ms = one.putArray("members");
                for (Member m : members) {
                    ObjectNode n = ms.addObject().put("id", m.id).put("instance", m.instance).put("rack", m.rack)
                        .put("generation", m.generation).put("user_data", m.userData);
                    n.set("topics", JSON.valueToTree(m.topics));
                    n.set("owned", names(m.owned));
                }
                ObjectNode results = one.putObject("assignments");
                ConsumerPartitionAssignor[] all = {new RangeAssignor(), new RoundRobinAssignor(), new StickyAssignor(), new CooperativeStickyAssignor()};
                Map<String, List<TopicPartition>> kept = null;
                for (int i = 0; i < 4; i++) {
                    ObjectNode result = results.putObject(all[i].name());
                    try {
                        Map<String, List<TopicPartition>> given = run(all[i], cluster, members);
                        given.forEach((id, tps) -> result.set(id, names(tps)));
                        if (kept == null || i == 2 + seed % 2) kept = given;
                    } catch (RuntimeException e) {
                        result.put("raises", e.getClass().getSimpleName());
                    }
                }
                out.println((first ? "" : ",") + JSON.writeValueAsString(one));
                first = false;
                // the next rebalance: everybody owns what they were given, then something changes
                for (Member m : members) {
                    m.owned = new ArrayList<>(kept.getOrDefault(m.id, List.of()));
                    m.generation = generation;
                    m.userData = dirty ? r.nextInt(4) : seed % 4 == 3 ? 0 : 2;
                    if (dirty && r.nextInt(4) == 0) m.generation = generation - 1;
                    if (dirty && r.nextInt(4) == 0) {
                        String t = topics.get(r.nextInt(topics.size()));
                        TopicPartition claim = new TopicPartition(t, r.nextInt(counts.get(t) + 1));
                        if (claim.partition() < counts.get(t) && !m.owned.contains(claim)) m.owned.add(claim);
                    }
                }
                generation++;
                switch (r.nextInt(5)) {
                    case 0: members.add(member(r, nextId++, topics, sameTopics, racks)); break;
                    case 1: if (members.size() > 1) members.remove(r.nextInt(members.size())); break;
                    case 2: String t = topics.get(r.nextInt(topics.size())); counts.put(t, counts.get(t) + 1 + r.nextInt(3)); break;
                    case 3: if (!sameTopics) members.get(r.nextInt(members.size())).topics = pick(r, topics, false); break;
                    default: for (int i = 0; i < 2; i++) members.add(member(r, nextId++, topics, sameTopics, racks));
                }
                if (r.nextInt(3) == 0) Collections.shuffle(members, r);
            }
        }
        out.println("]");
        out.close();
    }

    static List<String> pick(Random r, List<String> topics, boolean all) {
        List<String> out = new ArrayList<>();
        for (String t : topics) if (all || r.nextInt(3) > 0) out.add(t);
        if (out.isEmpty()) out.add(topics.get(r.nextInt(topics.size())));  // who wants nothing: see sticky.py
        return out;
    }

    static Member member(Random r, int n, List<String> topics, boolean all, boolean racks) {
        Member m = new Member();
        m.id = (r.nextInt(3) == 0 ? "consumer-" + n : "rdkafka") + "-" + new UUID(r.nextLong(), r.nextLong());
        if (r.nextInt(6) == 0) m.instance = "i" + r.nextInt(1000) + "-" + n;
        if (racks && r.nextInt(4) > 0) m.rack = "r" + r.nextInt(4);
        m.topics = pick(r, topics, all);
        return m;
    }
}
