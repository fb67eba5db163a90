package io.inferspan.propagation;

import static io.inferspan.propagation.HeaderMap.HEADERS;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules of W3C Trace Context (level 1 and 2) and Baggage, one by one. */
class TraceHeadersTest {

  private static final String TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN_ID = "b7ad6b7169203331";
  private static final String IDS = TRACE_ID + "-" + SPAN_ID;
  private static final String VALID = "00-" + IDS + "-01";

  private final TraceHeaders headers =
      Objects.requireNonNull(
          TraceHeaders.of(
              TextMapPropagator.composite(
                  W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance())));

  static Stream<String> malformedTraceparents() {
    return Stream.of(
        "",
        "-",
        "00",
        "00-" + IDS,
        "00-" + IDS + "-",
        "00-" + IDS + "-0",
        "00-" + IDS + "-001",
        "00-" + IDS + "-01-",
        "00-" + IDS + "-01-extra",
        "00-" + IDS + "-01.",
        " 00-" + IDS + "-01",
        "00-" + IDS + "-01 ",
        "00-" + IDS + "-0x",
        "00-" + IDS + "-0A",
        "00-" + IDS + "-.1",
        "ff-" + IDS + "-01",
        "ff-" + IDS + "-01-extra",
        "0-" + IDS + "-01",
        "000-" + IDS + "-01",
        "0g-" + IDS + "-01",
        ".0-" + IDS + "-01",
        "CC-" + IDS + "-01",
        "cc-" + IDS + "-01.what",
        "cc-" + IDS + "-01x",
        "00-" + "0".repeat(32) + "-" + SPAN_ID + "-01",
        "00-" + TRACE_ID + "-" + "0".repeat(16) + "-01",
        "00-" + TRACE_ID.toUpperCase(Locale.ROOT) + "-" + SPAN_ID + "-01",
        "00-" + TRACE_ID + "-" + SPAN_ID.toUpperCase(Locale.ROOT) + "-01",
        "00-" + TRACE_ID.substring(1) + "-" + SPAN_ID + "-01",
        "00-" + TRACE_ID + "0-" + SPAN_ID + "-01",
        "00-" + TRACE_ID + "-" + SPAN_ID.substring(1) + "-01",
        "00-." + TRACE_ID.substring(1) + "-" + SPAN_ID + "-01",
        "00-" + TRACE_ID + "-." + SPAN_ID.substring(1) + "-01",
        "00_" + IDS + "-01",
        "00-" + TRACE_ID + "_" + SPAN_ID + "-01",
        "00-" + IDS + "_01",
        VALID + "," + VALID,
        "\u0660\u0660-" + IDS + "-01",
        "00-" + IDS.replace('0', '\uff10') + "-01",
        "0".repeat(100_000));
  }

  @ParameterizedTest
  @MethodSource("malformedTraceparents")
  void malformedTraceparent_yieldsNoParent(String traceparent) {
    Map<String, String> in = Map.of("traceparent", traceparent, "tracestate", "a=1");

    assertThat(headers.readParent(in, HEADERS)).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"01", "cc", "fe"})
  void laterVersion_isRead_andForwardedAsVersion00(String version) {
    for (String rest : List.of("", "-", "-what-the-future-holds")) {
      SpanContext parent = read(version + "-" + IDS + "-01" + rest);

      assertThat(parent.getTraceId()).isEqualTo(TRACE_ID);
      assertThat(parent.isSampled()).isTrue();
      assertThat(TraceHeaders.traceparent(parent)).isEqualTo(VALID);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"00 00", "01 01", "02 02", "03 03", "04 00", "fe 02", "ff 03", "81 01"})
  void flags_onlySampledAndRandomAreForwarded(String inAndOut) {
    String in = inAndOut.substring(0, 2);
    String out = inAndOut.substring(3);
    SpanContext parent = read("00-" + IDS + "-" + in);

    assertThat(parent.isSampled()).isEqualTo((Integer.parseInt(in, 16) & 1) == 1);
    assertThat(parent.getTraceFlags()).isEqualTo(TraceFlags.fromHex(out, 0));
    assertThat(TraceHeaders.traceparent(parent)).isEqualTo("00-" + IDS + "-" + out);
  }

  @Test
  void parent_isEqualToItself() {
    assertThat(read(VALID)).isEqualTo(read(VALID)).hasSameHashCodeAs(read(VALID));
    assertThat(read(VALID)).isNotEqualTo(read("00-" + IDS + "-00"));
    assertThat(read(VALID).getTraceIdBytes()).hasSize(16);
    assertThat(read(VALID).getSpanIdBytes()).hasSize(8);
  }

  @Test
  void parent_equalsIsSymmetric() {
    SpanContext parent = read(VALID);
    SpanContext theirs =
        SpanContext.createFromRemoteParent(
            TRACE_ID, SPAN_ID, TraceFlags.getSampled(), TraceState.getDefault());

    assertThat(parent.equals(theirs)).isEqualTo(theirs.equals(parent));
  }

  static Stream<List<String>> tracestates() {
    String many = members(32);
    return Stream.of(
        List.of("a=1", "a=1"),
        List.of("a=1,b=2", "a=1,b=2"),
        List.of("b=2,a=1", "b=2,a=1"),
        List.of(" a=1 , b=2\t", "a=1,b=2"),
        List.of(",a=1,,b=2,", "a=1,b=2"),
        List.of("tenant@system=x", "tenant@system=x"),
        List.of("1a-_*/@b-_*/=!~x", "1a-_*/@b-_*/=!~x"),
        List.of("a=x=y", ""),
        List.of("a=" + "v".repeat(256), "a=" + "v".repeat(256)),
        List.of("k".repeat(256) + "=v", "k".repeat(256) + "=v"),
        List.of(many, many),
        List.of(members(33), ""),
        List.of("a", ""),
        List.of("=1", ""),
        List.of("a=1,b", ""),
        List.of("a=1,a=2", ""),
        List.of("A=1", ""),
        List.of("a b=1", ""),
        List.of("a=v\u00e9", ""),
        List.of("a=1\u0000", ""),
        List.of("a=" + "v".repeat(257), ""),
        List.of("k".repeat(257) + "=v", ""),
        List.of("", ""));
  }

  private static String members(int count) {
    return IntStream.range(0, count).mapToObj(i -> "k" + i + "=v").collect(Collectors.joining(","));
  }

  @ParameterizedTest
  @MethodSource("tracestates")
  void tracestate_isForwardedWholeOrDropped_andTheTraceContinues(List<String> inAndOut) {
    Map<String, String> out = relay(Map.of("traceparent", VALID, "tracestate", inAndOut.get(0)));

    assertThat(out).containsEntry("traceparent", VALID);
    assertThat(out.getOrDefault("tracestate", "")).isEqualTo(inAndOut.get(1));
  }

  @Test
  void tracestate_inSeveralHeaders_isOneList() {
    SpanContext parent =
        headers.readParent(
            Map.of("traceparent", List.of(VALID), "tracestate", List.of("a=1", "b=2,c=3")),
            new ManyHeaders());

    assertThat(Objects.requireNonNull(parent).getTraceState().asMap())
        .isEqualTo(Map.of("a", "1", "b", "2", "c", "3"));
  }

  @Test
  void tracestate_withoutTraceparent_isNotForwarded() {
    assertThat(headers.readParent(Map.of("tracestate", "a=1"), HEADERS)).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Traceparent", "TRACEPARENT", "traceParent"})
  void write_leavesOneTraceparent_inAnyCase(String name) {
    Map<String, String> out = new HashMap<>(Map.of(name, "old", name + "2", "kept"));
    headers.write(read(VALID), Context.root(), out, HEADERS);

    assertThat(out).containsOnly(Map.entry("traceparent", VALID), Map.entry(name + "2", "kept"));
  }

  @Test
  void write_replacesEveryCaseAtOnce() {
    Map<String, String> out = new HashMap<>(Map.of("Traceparent", "1", "TRACEPARENT", "2"));
    headers.write(read(VALID), Context.root(), out, HEADERS);

    assertThat(out).containsOnly(Map.entry("traceparent", VALID));
  }

  @Test
  void write_replacesTheTracestateOfAnotherTrace() {
    Map<String, String> out =
        new HashMap<>(
            Map.of("traceparent", "old", "TraceState", "other=1", "tracestate", "other=2"));
    headers.write(read(VALID), Context.root(), out, HEADERS);

    assertThat(out).containsOnly(Map.entry("traceparent", VALID));

    out.put("TRACESTATE", "other=1");
    SpanContext own =
        Objects.requireNonNull(
            headers.readParent(Map.of("traceparent", VALID, "tracestate", "own=1"), HEADERS));
    headers.write(own, Context.root(), out, HEADERS);

    assertThat(out).containsOnly(Map.entry("traceparent", VALID), Map.entry("tracestate", "own=1"));
  }

  @Test
  void write_intoAMapThatIgnoresCase_keepsTheValue() {
    Map<String, String> out = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    out.put("Traceparent", "old");
    out.put("Host", "h");
    headers.write(read(VALID), Context.root(), out, HEADERS);

    assertThat(out.get("traceparent")).isEqualTo(VALID);
    assertThat(out).hasSize(2);
  }

  @Test
  void nullCarrier_isIgnored() {
    assertThat(headers.readParent(null, HEADERS)).isNull();
    assertThat(headers.readBaggage(Context.root(), null, HEADERS)).isSameAs(Context.root());
    headers.write(read(VALID), Context.root(), null, HEADERS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "=v",
        "k",
        "k v=1",
        "k=\u00e9",
        ";",
        ",",
        "=",
        "k=v;;;",
        "k=%zz",
        "k=%",
        "k=v,,",
        "\u0000=1"
      })
  void malformedBaggage_neverThrows_andTheTraceContinues(String baggage) {
    Map<String, String> out = relay(Map.of("traceparent", VALID, "baggage", baggage));

    assertThat(out).containsEntry("traceparent", VALID);
  }

  @Test
  void baggage_isForwardedWithItsMetadata() {
    Map<String, String> out = relay(Map.of("traceparent", VALID, "baggage", "a=1;p=x,b=%20y"));

    assertThat(out).containsEntry("baggage", "a=1;p=x,b=%20y");
  }

  @Test
  void otherPropagators_haveNoFastPath() {
    TextMapPropagator b3 =
        new TextMapPropagator() {
          @Override
          public List<String> fields() {
            return List.of("b3");
          }

          @Override
          public <C> void inject(
              Context context,
              @Nullable C carrier,
              io.opentelemetry.context.propagation.TextMapSetter<C> setter) {}

          @Override
          public <C> Context extract(
              Context context, @Nullable C carrier, TextMapGetter<C> getter) {
            return context;
          }
        };

    assertThat(TraceHeaders.of(TextMapPropagator.noop())).isNotNull();
    TextMapPropagator w3c = W3CTraceContextPropagator.getInstance();
    TextMapPropagator baggage = W3CBaggagePropagator.getInstance();
    assertThat(TraceHeaders.of(TextMapPropagator.composite(w3c, baggage))).isNotNull();
    assertThat(TraceHeaders.of(TextMapPropagator.composite(baggage, w3c))).isNotNull();
    assertThat(TraceHeaders.of(TextMapPropagator.composite(w3c, b3))).isNull();
    assertThat(TraceHeaders.of(TextMapPropagator.composite(w3c, baggage, b3))).isNull();
    assertThat(TraceHeaders.of(w3c)).isNotNull();
    assertThat(TraceHeaders.of(baggage)).isNotNull();
    assertThat(TraceHeaders.of(b3)).isNull();
  }

  @Test
  void severalTraceparents_areIgnored_andSeveralTracestatesAreOneList() {
    assertThat(headers.readParent(Map.of("traceparent", List.of(VALID, VALID)), LINES)).isNull();

    SpanContext parent =
        headers.readParent(
            Map.of("traceparent", List.of(VALID), "tracestate", List.of("a=1", "b=2")), LINES);
    assertThat(Objects.requireNonNull(parent).getTraceState().asMap())
        .isEqualTo(Map.of("a", "1", "b", "2"));
  }

  private static final TextMapGetter<Map<String, List<String>>> LINES =
      new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable Map<String, List<String>> carrier, String key) {
          List<String> lines = carrier == null ? null : carrier.get(key);
          return lines == null ? null : lines.get(0);
        }

        @Override
        public Iterator<String> getAll(@Nullable Map<String, List<String>> carrier, String key) {
          return carrier == null
              ? List.<String>of().iterator()
              : carrier.getOrDefault(key, List.of()).iterator();
        }
      };

  private SpanContext read(String traceparent) {
    return Objects.requireNonNull(
        headers.readParent(Map.of("traceparent", traceparent), HEADERS), traceparent);
  }

  /** Returns the outgoing headers for {@code in} if no span is made. */
  private Map<String, String> relay(Map<String, String> in) {
    SpanContext parent = Objects.requireNonNull(headers.readParent(in, HEADERS));
    Context context = headers.readBaggage(Context.root(), in, HEADERS).with(Span.wrap(parent));
    Map<String, String> out = new HashMap<>();
    headers.write(parent, context, out, HEADERS);
    return out;
  }

  /** Reads headers that may occur more than once. */
  private static final class ManyHeaders implements TextMapGetter<Map<String, List<String>>> {

    @Override
    public @Nullable String get(@Nullable Map<String, List<String>> carrier, String name) {
      Iterator<String> all = getAll(carrier, name);
      return all.hasNext() ? all.next() : null;
    }

    @Override
    public Iterator<String> getAll(@Nullable Map<String, List<String>> carrier, String name) {
      return Objects.requireNonNull(carrier).getOrDefault(name, List.of()).iterator();
    }
  }
}
