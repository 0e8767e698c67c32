// Writes one line of JSON for each form of a record of the Java serializers of Apicurio and AWS Glue: what
// `recorded.json` beside this file holds. README.md says how it is run.

import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.serializers.SerializationDataEncoder;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.apicurio.registry.resolver.strategy.ArtifactReference;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
import io.apicurio.registry.serde.headers.DefaultHeadersHandler;
import io.apicurio.registry.serde.protobuf.ProtobufKafkaSerializer;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.message.BinaryMessageEncoder;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serializer;

public class Frames {
    static final String SCHEMA = "{\"type\":\"record\",\"name\":\"Note\",\"fields\":"
            + "[{\"name\":\"id\",\"type\":\"int\"},{\"name\":\"text\",\"type\":\"string\"}]}";

    public static void main(String[] args) throws Exception {
        GenericRecord note = new GenericData.Record(new Schema.Parser().parse(SCHEMA));
        note.put("id", 7);
        note.put("text", "hi hi hi hi hi hi hi hi hi hi hi hi hi hi hi hi hi hi hi");
        for (boolean headers : new boolean[] {false, true}) {
            for (String id : new String[] {"IdOption.globalId", "IdOption.contentId"}) {
                Map<String, Object> config = config(args[0], headers, id);
                String name = (headers ? "headers " : "prefix ") + id;
                apicurio("apicurio avro " + name, new AvroKafkaSerializer<GenericRecord>(), config, note);
                apicurio("apicurio protobuf " + name, new ProtobufKafkaSerializer<DynamicMessage>(), config,
                        message());
            }
        }
        Map<String, Object> old = config(args[0], false, "IdOption.contentId");
        old.put("apicurio.registry.id-handler", "io.apicurio.registry.serde.Legacy4ByteIdHandler");
        apicurio("apicurio avro prefix of four bytes", new AvroKafkaSerializer<GenericRecord>(), old, note);
        coordinates("hash and coordinates", ArtifactReference.builder().contentHash(hash(SCHEMA)).groupId("default")
                .artifactId("notes").version("1").build());
        coordinates("coordinates", ArtifactReference.builder().groupId("default").artifactId("notes").version("1")
                .build());
        coordinates("coordinates of the latest version", ArtifactReference.builder().groupId("default")
                .artifactId("notes").build());
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
        var encoder = org.apache.avro.io.EncoderFactory.get().binaryEncoder(out, null);
        new org.apache.avro.generic.GenericDatumWriter<GenericRecord>(note.getSchema()).write(note, encoder);
        encoder.flush();
        UUID version = UUID.fromString("00010203-0405-0607-0809-0a0b0c0d0e0f");
        for (String compression : new String[] {"NONE", "ZLIB"}) {
            var config = new GlueSchemaRegistryConfiguration(Map.of("region", "eu-west-1", "compression", compression));
            byte[] made = new SerializationDataEncoder(config).write(out.toByteArray(), version);
            print("glue avro " + compression, new RecordHeaders(), made);
        }
        var single = new BinaryMessageEncoder<GenericRecord>(GenericData.get(), note.getSchema()).encode(note);
        byte[] made = new byte[single.remaining()];
        single.get(made);
        print("avro single object", new RecordHeaders(), made);
    }

    /** What the serializers write where the registry's answer has no ids, such as that of a resolver of one's own. */
    static void coordinates(String name, ArtifactReference reference) {
        RecordHeaders headers = new RecordHeaders();
        DefaultHeadersHandler handler = new DefaultHeadersHandler();
        handler.configure(Map.of(), false);
        handler.writeHeaders(headers, reference);
        print("apicurio avro headers " + name, headers, new byte[] {0x0e, 0x04, 'h', 'i'});
    }

    static String hash(String text) throws Exception {
        byte[] digest = java.security.MessageDigest.getInstance("SHA-256").digest(text.getBytes("UTF-8"));
        return java.util.HexFormat.of().formatHex(digest);
    }

    static DynamicMessage message() throws Exception {
        var id = FieldDescriptorProto.newBuilder().setName("id").setNumber(1).setType(Type.TYPE_INT32);
        var text = FieldDescriptorProto.newBuilder().setName("text").setNumber(2).setType(Type.TYPE_STRING);
        var file = FileDescriptorProto.newBuilder().setName("note.proto").setSyntax("proto3").setPackage("shop")
                .addMessageType(DescriptorProto.newBuilder().setName("Other"))
                .addMessageType(DescriptorProto.newBuilder().setName("Note").addField(id).addField(text));
        var type = FileDescriptor.buildFrom(file.build(), new FileDescriptor[0]).findMessageTypeByName("Note");
        return DynamicMessage.newBuilder(type).setField(type.findFieldByNumber(1), 7)
                .setField(type.findFieldByNumber(2), "hi").build();
    }

    static Map<String, Object> config(String url, boolean headers, String id) {
        Map<String, Object> config = new HashMap<>();
        config.put("apicurio.registry.url", url);
        config.put("apicurio.registry.auto-register", true);
        config.put("apicurio.registry.headers.enabled", headers);
        config.put("apicurio.registry.use-id", id.substring(9));
        return config;
    }

    static <T> void apicurio(String name, Serializer<T> serializer, Map<String, Object> config, T value) {
        serializer.configure(config, false);
        RecordHeaders headers = new RecordHeaders();
        print(name, headers, serializer.serialize("notes", headers, value));
        serializer.close();
    }

    static void print(String name, RecordHeaders headers, byte[] value) {
        StringBuilder line = new StringBuilder("{\"form\":\"" + name + "\",\"headers\":[");
        String before = "";
        for (Header header : headers) {
            line.append(before).append("[\"" + header.key() + "\",\"" + base64(header.value()) + "\"]");
            before = ",";
        }
        System.out.println(line + "],\"value\":\"" + base64(value) + "\"}");
    }

    static String base64(byte[] data) {
        return Base64.getEncoder().encodeToString(data);
    }
}
