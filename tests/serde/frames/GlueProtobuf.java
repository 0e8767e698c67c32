// Writes one line of JSON for each message of a schema as AWS Glue's serializer for Java stores it: what `glue.json`
// beside this file holds. With a file of lines in base64 it reads those, and prints each message. README.md says how it
// is run.

import com.amazonaws.services.schemaregistry.common.Schema;
import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.deserializers.protobuf.ProtobufDeserializer;
import com.amazonaws.services.schemaregistry.deserializers.protobuf.ProtobufSchemaParser;
import com.amazonaws.services.schemaregistry.serializers.SerializationDataEncoder;
import com.amazonaws.services.schemaregistry.serializers.protobuf.MessageIndexFinder;
import com.amazonaws.services.schemaregistry.serializers.protobuf.ProtobufWireFormatEncoder;
import com.amazonaws.services.schemaregistry.utils.ProtobufMessageType;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.TextFormat;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;

public class GlueProtobuf {
    static final String SCHEMA = "syntax = \"proto3\"; package shop; "
            + "message Zebra { int32 id = 1; message Inner { string a = 1; message Deep { bool b = 1; } } "
            + "map<string, int32> counts = 2; } "
            + "message Note { int32 id = 1; string text = 2; map<string, string> tags = 3; } message Apple { Note note = 1; }";
    static final String[][] MESSAGES = {
        {"shop.Zebra", "id: 7 counts { key: \"a\" value: 1 }"},
        {"shop.Zebra.Inner", "a: \"hi\""},
        {"shop.Zebra.Inner.Deep", "b: true"},
        {"shop.Note", "id: 7 text: \"hi\" tags { key: \"k\" value: \"v\" }"},
        {"shop.Apple", "note { id: 8 }"},
    };

    public static void main(String[] args) throws Exception {
        FileDescriptor file = new ProtobufSchemaParser().parse(SCHEMA, "shop.proto");
        if (args.length > 0) {
            read(args[0]);
            return;
        }
        var encoder = new ProtobufWireFormatEncoder(new MessageIndexFinder());
        UUID version = UUID.fromString("30010203-0405-0607-0809-0a0b0c0d0e0f");
        for (String[] message : MESSAGES) {
            DynamicMessage.Builder builder = DynamicMessage.newBuilder(find(file, message[0]));
            TextFormat.merge(message[1], builder);
            byte[] payload = encoder.encode(builder.build(), file);
            for (String compression : new String[] {"NONE", "ZLIB"}) {
                var config = new GlueSchemaRegistryConfiguration(
                        Map.of("region", "eu-west-1", "compression", compression));
                byte[] made = new SerializationDataEncoder(config).write(payload, version);
                System.out.printf("{\"message\": \"%s\", \"compression\": \"%s\", \"value\": \"%s\"}%n", message[0],
                        compression, Base64.getEncoder().encodeToString(made));
            }
        }
    }

    static Descriptor find(FileDescriptor file, String name) {
        String[] parts = name.split("\\.");
        Descriptor found = file.findMessageTypeByName(parts[1]);
        for (int at = 2; at < parts.length; at++) {
            found = found.findNestedTypeByName(parts[at]);
        }
        return found;
    }

    static void read(String path) throws Exception {
        var config = new GlueSchemaRegistryConfiguration(Map.of("region", "eu-west-1"));
        config.setProtobufMessageType(ProtobufMessageType.DYNAMIC_MESSAGE);
        ProtobufDeserializer deserializer = ProtobufDeserializer.builder().configs(config).build();
        for (String line : Files.readAllLines(Path.of(path))) {
            byte[] frame = Base64.getDecoder().decode(line);
            DynamicMessage message = (DynamicMessage) deserializer.deserialize(ByteBuffer.wrap(frame),
                    new Schema(SCHEMA, "PROTOBUF", "shop"));
            System.out.println(message.getDescriptorForType().getFullName() + " "
                    + TextFormat.shortDebugString(message));
        }
    }
}
