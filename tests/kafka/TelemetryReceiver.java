import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.Metric;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.MetricsData;

/**
 * A broker's plugin that takes the metrics of clients (KIP-714) and writes them to the file of the broker property
 * kcli.telemetry.file, a line for each number: client id, instance, terminating, name, temporality, value.
 */
public class TelemetryReceiver implements MetricsReporter, ClientTelemetry, ClientTelemetryReceiver {
    private String file;

    @Override
    public void configure(Map<String, ?> configs) {
        file = (String) configs.get("kcli.telemetry.file");
    }

    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return this;
    }

    @Override
    public synchronized void exportMetrics(AuthorizableRequestContext context, ClientTelemetryPayload payload) {
        StringBuilder text = new StringBuilder();
        String head = context.clientId() + "\t" + payload.clientInstanceId() + "\t" + payload.isTerminating() + "\t";
        try {
            MetricsData.parseFrom(payload.data()).getResourceMetricsList().forEach(resource ->
                resource.getScopeMetricsList().forEach(scope ->
                    scope.getMetricsList().forEach(metric -> text.append(head).append(line(metric)).append("\n"))));
            try (FileOutputStream out = new FileOutputStream(file, true)) {
                out.write(text.append(head).append("end\t\t\n").toString().getBytes(StandardCharsets.UTF_8));
            }
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static String line(Metric metric) {
        if (metric.hasSum()) {
            return metric.getName() + "\t" + metric.getSum().getAggregationTemporality() + "\t"
                + metric.getSum().getDataPoints(0).getAsInt();
        }
        return metric.getName() + "\tgauge\t" + metric.getGauge().getDataPoints(0).getAsDouble();
    }

    @Override
    public void init(List<KafkaMetric> metrics) { }

    @Override
    public void metricChange(KafkaMetric metric) { }

    @Override
    public void metricRemoval(KafkaMetric metric) { }

    @Override
    public void close() { }
}
