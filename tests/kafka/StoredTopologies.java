import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.coordinator.group.api.streams.StreamsGroupTopologyDescription;
import org.apache.kafka.coordinator.group.api.streams.StreamsGroupTopologyDescriptionPlugin;

/** Descriptions of topologies (KIP-1331), in memory; those of groups whose names begin with "unread" cannot be read. */
public class StoredTopologies implements StreamsGroupTopologyDescriptionPlugin {
    private final Map<String, StreamsGroupTopologyDescription> stored = new ConcurrentHashMap<>();

    public void configure(Map<String, ?> configs) {
    }

    public CompletableFuture<Void> setTopology(String group, int epoch, StreamsGroupTopologyDescription topology) {
        stored.put(group, topology);
        return CompletableFuture.completedFuture(null);
    }

    public CompletableFuture<Void> deleteTopology(String group) {
        stored.remove(group);
        return CompletableFuture.completedFuture(null);
    }

    public CompletableFuture<StreamsGroupTopologyDescription> getTopology(String group, int epoch) {
        return group.startsWith("unread")
            ? CompletableFuture.failedFuture(new IllegalStateException("no disk"))
            : CompletableFuture.completedFuture(stored.get(group));
    }

    public void close() {
    }
}
