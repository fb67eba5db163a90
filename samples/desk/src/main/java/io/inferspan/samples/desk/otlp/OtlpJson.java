package io.inferspan.samples.desk.otlp;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.io.IOException;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Reads OTLP/JSON.
 *
 * <p>OTLP/JSON differs from protobuf's JSON mapping: ids are hexadecimal, enums are numbers, and
 * unknown members are ignored.
 */
final class OtlpJson {

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(100).build())
          .build();

  private OtlpJson() {}

  static void merge(byte[] json, Message.Builder into) throws MalformedException {
    try (JsonParser in = JSON.createParser(json)) {
      if (in.nextToken() != JsonToken.START_OBJECT) {
        throw new MalformedException("the body is not a JSON object");
      }
      object(in, into);
    } catch (IOException e) {
      throw new MalformedException(
          "the body is not valid JSON, or is nested more than 100 levels deep");
    } catch (IllegalArgumentException e) {
      throw new MalformedException("the body contains an invalid number or id");
    }
  }

  private static void object(JsonParser in, Message.Builder into)
      throws IOException, MalformedException {
    for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
      FieldDescriptor field = field(into, name);
      JsonToken token = in.nextToken();
      if (field == null || token == JsonToken.VALUE_NULL) {
        in.skipChildren();
      } else if (field.isRepeated()) {
        if (token != JsonToken.START_ARRAY) {
          throw new MalformedException("field " + name + " must be a list");
        }
        while (in.nextToken() != JsonToken.END_ARRAY) {
          into.addRepeatedField(field, value(in, field, into));
        }
      } else {
        into.setField(field, value(in, field, into));
      }
    }
  }

  private static @Nullable FieldDescriptor field(Message.Builder message, String name) {
    for (FieldDescriptor field : message.getDescriptorForType().getFields()) {
      if (field.getJsonName().equals(name)) {
        return field;
      }
    }
    return null;
  }

  private static Object value(JsonParser in, FieldDescriptor field, Message.Builder parent)
      throws IOException, MalformedException {
    if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
      if (in.currentToken() != JsonToken.START_OBJECT) {
        throw new MalformedException("field " + field.getJsonName() + " must be an object");
      }
      Message.Builder message = parent.newBuilderForField(field);
      object(in, message);
      return message.build();
    }
    if (!in.currentToken().isScalarValue()) {
      throw new MalformedException(
          "field " + field.getJsonName() + " must be a string, number or boolean");
    }
    return scalar(in.getText(), field);
  }

  private static Object scalar(String text, FieldDescriptor field) {
    return switch (field.getType()) {
      case BYTES ->
          ByteString.copyFrom(
              field.getName().endsWith("_id")
                  ? HexFormat.of().parseHex(text)
                  : Base64.getDecoder().decode(text));
      case INT64 -> Long.parseLong(text);
      case FIXED64 -> Long.parseUnsignedLong(text);
      case UINT32, FIXED32 -> Integer.parseUnsignedInt(text);
      case DOUBLE -> Double.parseDouble(text);
      case BOOL -> Boolean.parseBoolean(text);
      case ENUM -> field.getEnumType().findValueByNumberCreatingIfUnknown(Integer.parseInt(text));
      case STRING -> text;
      default -> throw new IllegalArgumentException("OTLP has no field of type " + field.getType());
    };
  }
}
