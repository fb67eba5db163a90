package io.inferspan.samples.desk.otlp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads what a kept span carries out of its bytes. */
final class DetailReader {

  private static final int TRACE_ID_BYTES = 16;
  private static final int SPAN_ID_BYTES = 8;

  private final Map<String, Object> attributes = new LinkedHashMap<>();
  private final List<SpanDetail.Event> events = new ArrayList<>();
  private final List<SpanDetail.Link> links = new ArrayList<>();
  private String statusText = "";
  private long dropped;

  private DetailReader() {}

  static SpanDetail read(byte[] span) {
    DetailReader reader = new DetailReader();
    try {
      reader.span(new ProtoReader(span));
    } catch (MalformedException e) {
      // Whoever kept these bytes has checked them.
      throw new IllegalStateException("a kept span cannot be read: " + e.reason(), e);
    }
    return new SpanDetail(
        reader.attributes, reader.events, reader.links, reader.statusText, reader.dropped);
  }

  private void span(ProtoReader in) throws MalformedException {
    while (in.next()) {
      switch (in.field()) {
        case Field.ATTRIBUTES -> Values.pair(in.message(), attributes, 0);
        case Field.EVENTS -> event(in.message());
        case Field.LINKS -> link(in.message());
        case Field.STATUS -> status(in.message());
        case Field.DROPPED_ATTRIBUTES, Field.DROPPED_EVENTS, Field.DROPPED_LINKS ->
            dropped += in.number() & 0xffff_ffffL;
        default -> in.skip();
      }
    }
  }

  private void event(ProtoReader in) throws MalformedException {
    String name = "";
    long time = 0;
    Map<String, Object> carried = new LinkedHashMap<>();
    while (in.next()) {
      switch (in.field()) {
        case Field.EVENT_TIME -> time = in.fixed64();
        case Field.EVENT_NAME -> name = Values.text(in.message());
        case Field.EVENT_ATTRIBUTES -> Values.pair(in.message(), carried, 0);
        default -> in.skip();
      }
    }
    events.add(new SpanDetail.Event(name, time, carried));
  }

  private void link(ProtoReader in) throws MalformedException {
    TraceId trace = new TraceId(0, 0);
    long span = 0;
    while (in.next()) {
      switch (in.field()) {
        case Field.LINK_TRACE_ID -> trace = traceId(in.message());
        case Field.LINK_SPAN_ID -> span = spanId(in.message());
        default -> in.skip();
      }
    }
    links.add(new SpanDetail.Link(trace, span));
  }

  private void status(ProtoReader in) throws MalformedException {
    while (in.next()) {
      if (in.field() == Field.STATUS_MESSAGE) {
        statusText = Values.text(in.message());
      } else {
        in.skip();
      }
    }
  }

  /** The id, or none where it has not the length of one. */
  static TraceId traceId(ProtoReader in) {
    return in.remaining() == TRACE_ID_BYTES
        ? new TraceId(in.bigEndian(0), in.bigEndian(Long.BYTES))
        : new TraceId(0, 0);
  }

  /** The id, or 0 where it has not the length of one. */
  static long spanId(ProtoReader in) {
    return in.remaining() == SPAN_ID_BYTES ? in.bigEndian(0) : 0;
  }
}
