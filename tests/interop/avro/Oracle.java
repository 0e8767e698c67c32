import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;

/** Answers cases, a line of JSON each: {"do": parse|read|write, …} with {"…"} or {"error": …}. */
public class Oracle {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer(JSON.readTree(line), answer);
            } catch (Throwable problem) {
                answer.removeAll();
                answer.put("error", problem.getClass().getSimpleName() + ": " + problem.getMessage());
            }
            out.println(JSON.writeValueAsString(answer));
            out.flush();
        }
    }

    static Schema parsed(JsonNode text) {
        return new Schema.Parser().parse(text.asText());
    }

    static void answer(JsonNode one, ObjectNode answer) throws Exception {
        Schema schema = parsed(one.get("schema"));
        switch (one.get("do").asText()) {
            case "parse":
                answer.put("canonical", SchemaNormalization.toParsingForm(schema));
                answer.put("fingerprint", SchemaNormalization.parsingFingerprint64(schema));
                break;
            case "read":
                Schema reader = one.has("reader") ? parsed(one.get("reader")) : schema;
                answer.put("json", read(schema, reader, Base64.getDecoder().decode(one.get("payload").asText())));
                break;
            case "write":
                answer.put("payload", Base64.getEncoder().encodeToString(write(schema, one.get("json").asText())));
                break;
            case "compare":
                answer.put("verdict", SchemaCompatibility.checkReaderWriterCompatibility(
                    parsed(one.get("reader")), schema).getType().toString());
                break;
            default:
                throw new IllegalArgumentException(one.get("do").asText());
        }
    }

    static String read(Schema writer, Schema reader, byte[] payload) throws Exception {
        BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(payload, null);
        Object value = new GenericDatumReader<Object>(writer, reader).read(null, decoder);
        if (!decoder.isEnd()) {
            throw new IllegalArgumentException("bytes are left");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        JsonEncoder encoder = EncoderFactory.get().jsonEncoder(reader, out);
        new GenericDatumWriter<Object>(reader).write(value, encoder);
        encoder.flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    static byte[] write(Schema schema, String json) throws Exception {
        Object value = new GenericDatumReader<Object>(schema)
            .read(null, DecoderFactory.get().jsonDecoder(schema, json));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<Object>(schema).write(value, encoder);
        encoder.flush();
        return out.toByteArray();
    }
}
