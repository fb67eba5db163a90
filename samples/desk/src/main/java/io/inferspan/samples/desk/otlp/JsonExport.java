package io.inferspan.samples.desk.otlp;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;

/**
 * Turns OTLP's JSON into its protobuf, so that there is one way in.
 *
 * <p>In JSON ids are hexadecimal, and numbers of 64 bits are text or numbers.
 */
public final class JsonExport {

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(100).build())
          .build();

  /** How a member of a JSON object stands in protobuf. */
  private enum Kind {
    MESSAGE,
    TEXT,
    HEX,
    BASE64,
    NUMBER,
    FIXED64,
    DOUBLE,
    BOOLEAN
  }

  private record Member(int number, Kind kind, Shape shape) {}

  /** The messages, each with the members that are taken; others are passed over. */
  private enum Shape {
    NONE,
    VALUE,
    LIST,
    KEY_VALUES,
    KEY_VALUE,
    RESOURCE,
    SCOPE,
    EVENT,
    LINK,
    STATUS,
    SPAN,
    SCOPE_SPANS,
    RESOURCE_SPANS,
    EXPORT
  }

  private static final Map<Shape, Map<String, Member>> MEMBERS =
      Map.ofEntries(
          Map.entry(
              Shape.EXPORT,
              Map.of("resourceSpans", inner(Field.EXPORT_RESOURCE_SPANS, Shape.RESOURCE_SPANS))),
          Map.entry(
              Shape.RESOURCE_SPANS,
              Map.of(
                  "resource", inner(Field.RESOURCE, Shape.RESOURCE),
                  "scopeSpans", inner(Field.SCOPE_SPANS, Shape.SCOPE_SPANS))),
          Map.entry(
              Shape.RESOURCE,
              Map.of("attributes", inner(Field.RESOURCE_ATTRIBUTES, Shape.KEY_VALUE))),
          Map.entry(
              Shape.SCOPE_SPANS,
              Map.of(
                  "scope", inner(Field.SCOPE, Shape.SCOPE),
                  "spans", inner(Field.SPANS, Shape.SPAN))),
          Map.entry(Shape.SCOPE, Map.of("name", plain(Field.SCOPE_NAME, Kind.TEXT))),
          Map.entry(Shape.SPAN, span()),
          Map.entry(
              Shape.EVENT,
              Map.of(
                  "timeUnixNano", plain(Field.EVENT_TIME, Kind.FIXED64),
                  "name", plain(Field.EVENT_NAME, Kind.TEXT),
                  "attributes", inner(Field.EVENT_ATTRIBUTES, Shape.KEY_VALUE))),
          Map.entry(
              Shape.LINK,
              Map.of(
                  "traceId", plain(Field.LINK_TRACE_ID, Kind.HEX),
                  "spanId", plain(Field.LINK_SPAN_ID, Kind.HEX),
                  "attributes", inner(Field.LINK_ATTRIBUTES, Shape.KEY_VALUE))),
          Map.entry(
              Shape.STATUS,
              Map.of(
                  "message", plain(Field.STATUS_MESSAGE, Kind.TEXT),
                  "code", plain(Field.STATUS_CODE, Kind.NUMBER))),
          Map.entry(
              Shape.KEY_VALUE,
              Map.of("key", plain(Field.KEY, Kind.TEXT), "value", inner(Field.VALUE, Shape.VALUE))),
          Map.entry(Shape.VALUE, value()),
          Map.entry(Shape.LIST, Map.of("values", inner(Field.LIST_VALUES, Shape.VALUE))),
          Map.entry(Shape.KEY_VALUES, Map.of("values", inner(Field.LIST_VALUES, Shape.KEY_VALUE))));

  private JsonExport() {}

  private static Map<String, Member> span() {
    return Map.ofEntries(
        Map.entry("traceId", plain(Field.TRACE_ID, Kind.HEX)),
        Map.entry("spanId", plain(Field.SPAN_ID, Kind.HEX)),
        Map.entry("parentSpanId", plain(Field.PARENT_ID, Kind.HEX)),
        Map.entry("name", plain(Field.NAME, Kind.TEXT)),
        Map.entry("kind", plain(Field.KIND, Kind.NUMBER)),
        Map.entry("startTimeUnixNano", plain(Field.START, Kind.FIXED64)),
        Map.entry("endTimeUnixNano", plain(Field.END, Kind.FIXED64)),
        Map.entry("attributes", inner(Field.ATTRIBUTES, Shape.KEY_VALUE)),
        Map.entry("droppedAttributesCount", plain(Field.DROPPED_ATTRIBUTES, Kind.NUMBER)),
        Map.entry("events", inner(Field.EVENTS, Shape.EVENT)),
        Map.entry("droppedEventsCount", plain(Field.DROPPED_EVENTS, Kind.NUMBER)),
        Map.entry("links", inner(Field.LINKS, Shape.LINK)),
        Map.entry("droppedLinksCount", plain(Field.DROPPED_LINKS, Kind.NUMBER)),
        Map.entry("status", inner(Field.STATUS, Shape.STATUS)));
  }

  private static Map<String, Member> value() {
    return Map.of(
        "stringValue", plain(Field.STRING_VALUE, Kind.TEXT),
        "boolValue", plain(Field.BOOL_VALUE, Kind.BOOLEAN),
        "intValue", plain(Field.INT_VALUE, Kind.NUMBER),
        "doubleValue", plain(Field.DOUBLE_VALUE, Kind.DOUBLE),
        "arrayValue", inner(Field.ARRAY_VALUE, Shape.LIST),
        "kvlistValue", inner(Field.KVLIST_VALUE, Shape.KEY_VALUES),
        "bytesValue", plain(Field.BYTES_VALUE, Kind.BASE64));
  }

  private static Member inner(int number, Shape shape) {
    return new Member(number, Kind.MESSAGE, shape);
  }

  private static Member plain(int number, Kind kind) {
    return new Member(number, kind, Shape.NONE);
  }

  /** The same request as protobuf. */
  public static byte[] toProtobuf(byte[] json) throws MalformedException {
    try (JsonParser in = JSON.createParser(json)) {
      if (in.nextToken() != JsonToken.START_OBJECT) {
        throw new MalformedException("the body is no JSON object");
      }
      ProtoWriter out = new ProtoWriter();
      object(in, Shape.EXPORT, out);
      return out.toBytes();
    } catch (IOException e) {
      throw new MalformedException("the body is no JSON, or is nested too deep");
    } catch (IllegalArgumentException e) {
      throw new MalformedException("a number or an id is not what it should be");
    }
  }

  private static void object(JsonParser in, Shape shape, ProtoWriter out)
      throws IOException, MalformedException {
    Map<String, Member> members = MEMBERS.getOrDefault(shape, Map.of());
    for (String name = in.nextFieldName(); name != null; name = in.nextFieldName()) {
      Member member = members.get(name);
      JsonToken token = in.nextToken();
      if (member == null || token == JsonToken.VALUE_NULL) {
        in.skipChildren();
      } else if (token == JsonToken.START_ARRAY) {
        while (in.nextToken() != JsonToken.END_ARRAY) {
          member(in, member, out);
        }
      } else {
        member(in, member, out);
      }
    }
  }

  private static void member(JsonParser in, Member member, ProtoWriter out)
      throws IOException, MalformedException {
    if (member.kind == Kind.MESSAGE) {
      if (in.currentToken() != JsonToken.START_OBJECT) {
        throw new MalformedException("there is something else where an object should be");
      }
      ProtoWriter inner = new ProtoWriter();
      object(in, member.shape, inner);
      out.message(member.number, inner);
      return;
    }
    if (!in.currentToken().isScalarValue()) {
      throw new MalformedException("there is an object or a list where a value should be");
    }
    scalar(in.getText(), member, out);
  }

  private static void scalar(String text, Member member, ProtoWriter out) {
    int number = member.number;
    switch (member.kind) {
      case TEXT -> out.text(number, text);
      case HEX -> out.bytes(number, HexFormat.of().parseHex(text));
      case BASE64 -> out.bytes(number, Base64.getDecoder().decode(text));
      case NUMBER -> out.number(number, Long.parseLong(text));
      case FIXED64 -> out.fixed64(number, Long.parseUnsignedLong(text));
      case DOUBLE -> out.fixed64(number, Double.doubleToRawLongBits(Double.parseDouble(text)));
      case BOOLEAN -> out.number(number, Boolean.parseBoolean(text) ? 1 : 0);
      case MESSAGE -> throw new IllegalStateException("a message has no text");
    }
  }
}
