package io.inferspan.samples.desk.otlp;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes a large span small enough to keep: texts are cut, and what cannot be cut is left out.
 *
 * <p>All of it is counted. A span that is small as it came never gets here.
 */
final class Trimmer {

  /** What a span may have in all. */
  static final int MAX_SPAN_BYTES = 128 * 1024;

  private static final int MAX_KEY_BYTES = 256;

  private final ProtoWriter out = new ProtoWriter();
  private final Drops drops;

  private Trimmer(Drops drops) {
    this.drops = drops;
  }

  static byte[] trim(byte[] span, Drops drops) throws MalformedException {
    Trimmer trimmer = new Trimmer(drops);
    ProtoReader in = new ProtoReader(span);
    while (in.next()) {
      trimmer.field(in);
    }
    return trimmer.out.toBytes();
  }

  private void field(ProtoReader in) throws MalformedException {
    int field = in.field();
    int from = in.fieldAt();
    in.skip();
    int length = in.position() - from;
    if (length <= SpanParser.MAX_PART_BYTES && out.length() + length <= MAX_SPAN_BYTES) {
      out.raw(in.bytes(), from, in.position());
      return;
    }
    if (out.length() + SpanParser.MAX_PART_BYTES + MAX_KEY_BYTES > MAX_SPAN_BYTES) {
      drops.count(Drop.PART_TOO_LARGE, 1);
      return;
    }
    ProtoReader again = new ProtoReader(in.bytes(), from, in.position());
    again.next();
    shorten(field, again.message());
  }

  private void shorten(int field, ProtoReader part) throws MalformedException {
    switch (field) {
      case Field.NAME -> out.text(field, cut(part, SpanParser.MAX_PART_BYTES));
      case Field.ATTRIBUTES -> attribute(part);
      case Field.STATUS -> status(part);
      default -> drops.count(Drop.PART_TOO_LARGE, 1);
    }
  }

  private void attribute(ProtoReader in) throws MalformedException {
    String key = "";
    @Nullable String value = null;
    while (in.next()) {
      switch (in.field()) {
        case Field.KEY -> key = cut(in.message(), MAX_KEY_BYTES);
        case Field.VALUE -> value = textOf(in.message());
        default -> in.skip();
      }
    }
    if (value == null) {
      drops.count(Drop.PART_TOO_LARGE, 1);
      return;
    }
    out.message(
        Field.ATTRIBUTES,
        new ProtoWriter()
            .text(Field.KEY, key)
            .message(Field.VALUE, new ProtoWriter().text(Field.STRING_VALUE, value)));
  }

  /** The value if it is text; a list has no place to be cut at. */
  private @Nullable String textOf(ProtoReader in) throws MalformedException {
    @Nullable String value = null;
    while (in.next()) {
      if (in.field() == Field.STRING_VALUE) {
        value = cut(in.message(), SpanParser.MAX_PART_BYTES - MAX_KEY_BYTES);
      } else {
        in.skip();
      }
    }
    return value;
  }

  private void status(ProtoReader in) throws MalformedException {
    ProtoWriter status = new ProtoWriter();
    while (in.next()) {
      switch (in.field()) {
        case Field.STATUS_MESSAGE -> status.text(Field.STATUS_MESSAGE, cut(in.message(), 1024));
        case Field.STATUS_CODE -> status.number(Field.STATUS_CODE, in.number());
        default -> in.skip();
      }
    }
    out.message(Field.STATUS, status);
  }

  private String cut(ProtoReader in, int maxBytes) {
    if (in.remaining() > maxBytes) {
      drops.count(Drop.TEXT_CUT, 1);
    }
    String text = Texts.cut(in.bytes(), in.position(), in.remaining(), maxBytes);
    // What is no UTF-8 grows when it is replaced.
    return text.getBytes(StandardCharsets.UTF_8).length > 2 * maxBytes
        ? text.substring(0, maxBytes / 4)
        : text;
  }
}
