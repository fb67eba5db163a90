package io.inferspan.samples.desk.otlp;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.UnknownFieldSet;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.function.Consumer;

/**
 * Limits the size of a span: truncates long texts and drops other large values.
 *
 * <p>Truncated texts and dropped attributes, events and links are counted. A span that is trimmed
 * also loses its trace state and unknown fields, which are not counted.
 */
final class Trimmer {

  /** The maximum size of a span. */
  static final int MAX_SPAN_BYTES = 128 * 1024;

  /** The maximum size of one text, attribute, event or link of a span. */
  static final int MAX_PART_BYTES = 16 * 1024;

  private static final int MAX_KEY_BYTES = 256;
  private static final int MAX_STATUS_BYTES = 1024;

  private final Drops drops;
  private int room = MAX_SPAN_BYTES;

  private Trimmer(Drops drops) {
    this.drops = drops;
  }

  static Span trim(Span span, Drops drops) {
    return span.getSerializedSize() <= MAX_PART_BYTES ? span : new Trimmer(drops).trim(span);
  }

  private Span trim(Span span) {
    Span.Builder out =
        span.toBuilder()
            .clearTraceState()
            .clearAttributes()
            .clearEvents()
            .clearLinks()
            .setName(text(span.getName(), MAX_PART_BYTES))
            .setUnknownFields(UnknownFieldSet.getDefaultInstance());
    if (span.hasStatus()) {
      out.getStatusBuilder().setMessage(text(span.getStatus().getMessage(), MAX_STATUS_BYTES));
    }
    room -= out.build().getSerializedSize();
    span.getAttributesList().forEach(attribute -> keep(shorter(attribute), out::addAttributes));
    span.getEventsList().forEach(event -> keep(event, out::addEvents));
    span.getLinksList().forEach(link -> keep(link, out::addLinks));
    return out.build();
  }

  private <T extends Message> void keep(T part, Consumer<T> out) {
    int size = part.getSerializedSize();
    if (size > MAX_PART_BYTES || size > room) {
      drops.count(Drop.PART_TOO_LARGE, 1);
      return;
    }
    room -= size;
    out.accept(part);
  }

  /** Returns the attribute with its text truncated; other types are returned as they are. */
  private KeyValue shorter(KeyValue attribute) {
    if (attribute.getSerializedSize() <= MAX_PART_BYTES || !attribute.getValue().hasStringValue()) {
      return attribute;
    }
    String value = text(attribute.getValue().getStringValue(), MAX_PART_BYTES - 2 * MAX_KEY_BYTES);
    return KeyValue.newBuilder()
        .setKey(text(attribute.getKey(), MAX_KEY_BYTES))
        .setValue(AnyValue.newBuilder().setStringValue(value))
        .build();
  }

  private String text(String text, int maxBytes) {
    String cut = cut(text, maxBytes);
    if (!cut.equals(text)) {
      drops.count(Drop.TEXT_CUT, 1);
    }
    return cut;
  }

  /**
   * Truncates a text of more than {@code maxBytes} bytes of UTF-8, between two characters, and
   * appends an ellipsis.
   */
  static String cut(String text, int maxBytes) {
    if (text.length() <= maxBytes / 3) {
      return text;
    }
    ByteString bytes = ByteString.copyFromUtf8(text);
    if (bytes.size() <= maxBytes) {
      return text;
    }
    int end = maxBytes;
    // Move to the start of a character: continuation bytes begin with the bits 10.
    while (end > 0 && (bytes.byteAt(end) & 0xc0) == 0x80) {
      end--;
    }
    return bytes.substring(0, end).toStringUtf8() + "…";
  }
}
