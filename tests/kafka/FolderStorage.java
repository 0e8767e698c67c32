import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** Tiered storage in a folder, the config `rsm.config.folder`: a file for each segment and each of its indexes. */
public class FolderStorage implements RemoteStorageManager {
    private Path folder;

    public void configure(Map<String, ?> configs) {
        folder = Path.of(configs.get("folder").toString());
    }

    public Optional<CustomMetadata> copyLogSegmentData(RemoteLogSegmentMetadata segment, LogSegmentData data) throws RemoteStorageException {
        try {
            Files.copy(data.logSegment(), file(segment, "LOG"));
            Files.copy(data.offsetIndex(), file(segment, IndexType.OFFSET.name()));
            Files.copy(data.timeIndex(), file(segment, IndexType.TIMESTAMP.name()));
            Files.copy(data.producerSnapshotIndex(), file(segment, IndexType.PRODUCER_SNAPSHOT.name()));
            if (data.transactionIndex().isPresent()) {
                Files.copy(data.transactionIndex().get(), file(segment, IndexType.TRANSACTION.name()));
            }
            ByteBuffer epochs = data.leaderEpochIndex().duplicate();
            byte[] bytes = new byte[epochs.remaining()];
            epochs.get(bytes);
            Files.write(file(segment, IndexType.LEADER_EPOCH.name()), bytes);
        } catch (IOException problem) {
            throw new RemoteStorageException(problem);
        }
        return Optional.empty();
    }

    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start) throws RemoteStorageException {
        return fetchLogSegment(segment, start, Integer.MAX_VALUE);
    }

    public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start, int end) throws RemoteStorageException {
        byte[] bytes = read(segment, "LOG");
        return new ByteArrayInputStream(Arrays.copyOfRange(bytes, start, (int) Math.min(bytes.length, end + 1L)));
    }

    public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType index) throws RemoteStorageException {
        return new ByteArrayInputStream(read(segment, index.name()));
    }

    public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
        try {
            Files.deleteIfExists(file(segment, "LOG"));
            for (IndexType index : IndexType.values()) {
                Files.deleteIfExists(file(segment, index.name()));
            }
        } catch (IOException problem) {
            throw new RemoteStorageException(problem);
        }
    }

    public void close() {
    }

    private byte[] read(RemoteLogSegmentMetadata segment, String kind) throws RemoteStorageException {
        Path path = file(segment, kind);
        if (!Files.exists(path)) {
            throw new RemoteResourceNotFoundException(path.toString());
        }
        try {
            return Files.readAllBytes(path);
        } catch (IOException problem) {
            throw new RemoteStorageException(problem);
        }
    }

    private Path file(RemoteLogSegmentMetadata segment, String kind) {
        return folder.resolve(segment.remoteLogSegmentId().id() + "." + kind);
    }
}
