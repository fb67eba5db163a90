package io.inferspan.ebpf.coldstart;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.inferspan.ebpf.coldstart.ColdStart.Explained;
import io.inferspan.ebpf.coldstart.PhaseTimeline.Interval;
import io.inferspan.ebpf.coldstart.ThreadTimeline.Part;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Formats the timeline of a start as one self-contained HTML page. */
public final class ColdStartPage {

  private static final int RADIX = 36;
  private static final int NANOS_PER_MICRO = 1000;
  private static final List<ThreadState> STATES = List.of(ThreadState.values());

  /** Maximum number of parts of all threads together; short parts are merged to stay within it. */
  private static final int MAX_PARTS = 200_000;

  private final ColdStart start;
  private final PhaseTimeline phases;
  private final StringWriter text = new StringWriter();
  private final JsonGenerator json;
  private final Map<String, Integer> calls = new LinkedHashMap<>();

  private ColdStartPage(ColdStart start) throws IOException {
    this.start = start;
    this.phases = start.phases();
    this.json = new JsonFactory().createGenerator(text);
  }

  /**
   * Returns the page: phases and gaps, and the states of main and busy threads with explanations.
   */
  public static String of(ColdStart start) throws IOException {
    ColdStartPage page = new ColdStartPage(start);
    page.data();
    // Keeps names of files and threads from closing the script element.
    return resource().replace("%DATA%", page.text.toString().replace("<", "\\u003c"));
  }

  private void data() throws IOException {
    json.writeStartObject();
    json.writeStringField("title", start.title());
    json.writeNumberField("wall", micros(phases.endNanos()));
    json.writeFieldName("states");
    strings(STATES.stream().map(ThreadState::word).toList());
    json.writeArrayFieldStart("phases");
    for (Interval interval : phases.intervals()) {
      boolean gap = interval.phase() == null;
      String word = interval.phase() == null ? "gap" : interval.phase().word();
      span(interval.startNanos(), interval.endNanos());
      json.writeString(word);
      json.writeString(gap ? start.explained(interval).text() : "");
      json.writeEndArray();
    }
    json.writeEndArray();
    threads();
    json.writeFieldName("calls");
    strings(List.copyOf(calls.keySet()));
    json.writeEndObject();
    json.close();
  }

  private void threads() throws IOException {
    List<ThreadTimeline> shown =
        Stream.concat(
                start.mainThreads().stream().filter(all -> all.nanos() > phases.longNanos()),
                start.busyThreads().stream())
            .sorted(Comparator.comparingInt(thread -> thread.id().pid()))
            .toList();
    List<Explained> intervals = start.intervals();
    json.writeArrayFieldStart("threads");
    for (ThreadTimeline thread : shown) {
      json.writeStartObject();
      ThreadTimeline.Id id = thread.id();
      json.writeStringField("name", id.isMain() ? id.toString() : id.name());
      json.writeNumberField("from", micros(thread.parts().getFirst().startNanos()));
      json.writeStringField("parts", parts(thread, phases.wallNanos() * shown.size() / MAX_PARTS));
      json.writeArrayFieldStart("why");
      for (Explained interval : intervals) {
        if (interval.thread().equals(id)) {
          span(interval.startNanos(), interval.endNanos());
          json.writeString(interval.text());
          json.writeEndArray();
        }
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /**
   * Returns the length, state and call of each part; adjacent parts are merged as long as they are
   * shorter than {@code stepNanos} together.
   */
  private String parts(ThreadTimeline thread, long stepNanos) {
    StringBuilder out = new StringBuilder();
    List<Part> joined = new ArrayList<>();
    for (Part part : thread.parts()) {
      Part last = joined.isEmpty() ? null : joined.getLast();
      if (last == null || part.endNanos() - last.startNanos() >= stepNanos) {
        joined.add(part);
        continue;
      }
      Part longer = last.nanos() >= part.nanos() ? last : part;
      joined.set(
          joined.size() - 1,
          new Part(longer.state(), longer.call(), last.startNanos(), part.endNanos()));
    }
    for (Part part : joined) {
      number(out, micros(part.endNanos()) - micros(part.startNanos()));
      number(out, STATES.indexOf(part.state()));
      number(out, calls.computeIfAbsent(part.call(), call -> calls.size()));
    }
    return out.toString();
  }

  /** Begins an array with the start and the end, which the caller completes. */
  private void span(long startNanos, long endNanos) throws IOException {
    json.writeStartArray();
    json.writeNumber(micros(startNanos));
    json.writeNumber(micros(endNanos));
  }

  private void strings(List<String> words) throws IOException {
    json.writeArray(words.toArray(String[]::new), 0, words.size());
  }

  private long micros(long nanos) {
    return (nanos - phases.startNanos()) / NANOS_PER_MICRO;
  }

  private static void number(StringBuilder text, long number) {
    text.append(Long.toString(number, RADIX)).append(' ');
  }

  private static String resource() throws IOException {
    try (InputStream in = ColdStartPage.class.getResourceAsStream("timeline.html")) {
      if (in == null) {
        throw new IOException("the resource timeline.html is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
