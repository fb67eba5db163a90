package io.inferspan.samples.desk.otlp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads one span: takes out what lists and trees need, and checks that the rest can be read later.
 */
final class SpanParser {

  /** What one text, event or link of a span may have. */
  static final int MAX_PART_BYTES = 16 * 1024;

  private final Texts texts;
  private final Drops drops;
  private TraceId trace = new TraceId(0, 0);
  private long id;
  private long parentId;
  private long startNanos;
  private long endNanos;
  private long kind;
  private boolean error;
  private String name = "";

  SpanParser(Texts texts, Drops drops) {
    this.texts = texts;
    this.drops = drops;
  }

  /** The span; null where it has no valid ids. */
  @Nullable Received parse(ProtoReader in, Origin origin) throws MalformedException {
    clear();
    int from = in.position();
    while (in.next()) {
      field(in);
    }
    if (trace.isNone() || id == 0) {
      return null;
    }
    byte[] kept = Arrays.copyOfRange(in.bytes(), from, in.end());
    if (kept.length > MAX_PART_BYTES) {
      kept = Trimmer.trim(kept, drops);
    }
    return new Received(
        trace,
        new StoredSpan(
            id,
            parentId,
            // A span that ends before it begins is one without length.
            new StoredSpan.Times(startNanos, Math.max(startNanos, endNanos)),
            name,
            origin,
            StoredSpan.Mark.of(kind, error),
            kept));
  }

  private void clear() {
    trace = new TraceId(0, 0);
    id = 0;
    parentId = 0;
    startNanos = 0;
    endNanos = 0;
    kind = 0;
    error = false;
    name = "";
  }

  private void field(ProtoReader in) throws MalformedException {
    switch (in.field()) {
      case Field.TRACE_ID -> trace = DetailReader.traceId(in.message());
      case Field.SPAN_ID -> id = DetailReader.spanId(in.message());
      case Field.PARENT_ID -> parentId = DetailReader.spanId(in.message());
      case Field.NAME -> name = texts.of(in.message(), MAX_PART_BYTES);
      case Field.KIND -> kind = in.number();
      case Field.START -> startNanos = Math.max(0, in.fixed64());
      case Field.END -> endNanos = Math.max(0, in.fixed64());
      case Field.ATTRIBUTES -> Values.check(in.message(), 0);
      case Field.EVENTS -> event(in.message());
      case Field.LINKS -> link(in.message());
      case Field.STATUS -> status(in.message());
      case Field.DROPPED_ATTRIBUTES, Field.DROPPED_EVENTS, Field.DROPPED_LINKS -> in.number();
      default -> in.skip();
    }
  }

  private static void event(ProtoReader in) throws MalformedException {
    while (in.next()) {
      switch (in.field()) {
        case Field.EVENT_TIME -> in.fixed64();
        case Field.EVENT_NAME -> in.message();
        case Field.EVENT_ATTRIBUTES -> Values.check(in.message(), 0);
        default -> in.skip();
      }
    }
  }

  private static void link(ProtoReader in) throws MalformedException {
    while (in.next()) {
      switch (in.field()) {
        case Field.LINK_TRACE_ID, Field.LINK_SPAN_ID -> in.message();
        case Field.LINK_ATTRIBUTES -> Values.check(in.message(), 0);
        default -> in.skip();
      }
    }
  }

  private void status(ProtoReader in) throws MalformedException {
    while (in.next()) {
      switch (in.field()) {
        case Field.STATUS_MESSAGE -> in.message();
        case Field.STATUS_CODE -> error = in.number() == Field.STATUS_ERROR;
        default -> in.skip();
      }
    }
  }
}
