package io.inferspan.ebpf.imports;

import io.inferspan.catalog.BatchSpans;
import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.GenAiAttributes;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The {@code llm_request} spans of vLLM in OTLP/JSON, whose attributes contain the times of
 * queueing, prefill and decode.
 */
final class LlmRequests {

  private static final String NAME = EngineSpans.LLM_REQUEST.name(SpanNaming.PROPOSAL);
  private static final double NANOS_PER_SECOND = 1e9;

  /** The tolerated error of a sum of durations: engine and API server have different clocks. */
  private static final long TOLERANCE_NANOS = 10_000_000;

  private static final Set<String> TIMES =
      Stream.of(
              GenAiAttributes.LATENCY_TIME_IN_QUEUE,
              GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL,
              GenAiAttributes.LATENCY_TIME_IN_MODEL_DECODE,
              GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN)
          .flatMap(time -> Stream.of(time.key(), time.latestKey()))
          .filter(Objects::nonNull)
          .map(AttributeKey::getKey)
          .collect(Collectors.toUnmodifiableSet());

  private final Map<String, List<Phase>> requests = new LinkedHashMap<>();
  private final Set<String> parents = new HashSet<>();

  /**
   * A phase of a request.
   *
   * @param startErrorNanos the maximum time by which it may have started earlier
   */
  record Phase(
      SpanContext parent, SpanType type, long beginNanos, long endNanos, long startErrorNanos) {}

  /**
   * Returns the phases of each request that has no child spans. The list of phases is empty for a
   * request whose times are missing or inconsistent.
   */
  List<List<Phase>> withoutChildren() {
    return requests.entrySet().stream()
        .filter(request -> !parents.contains(request.getKey()))
        .map(Map.Entry::getValue)
        .toList();
  }

  /** Returns the number of requests that already have child spans. */
  long withChildren() {
    return requests.keySet().stream().filter(parents::contains).count();
  }

  void read(JsonRecord record) throws StackFormatException {
    for (JsonRecord resource : record.objects("resourceSpans")) {
      for (JsonRecord scope : resource.objects("scopeSpans")) {
        for (JsonRecord span : scope.objects("spans")) {
          take(span);
        }
      }
    }
  }

  private void take(JsonRecord span) throws StackFormatException {
    String trace = id(span, "traceId", TraceId.getLength());
    String id = id(span, "spanId", SpanId.getLength());
    String parent = span.textOrNull("parentSpanId");
    if (parent != null) {
      parents.add(trace + parent.toLowerCase(Locale.ROOT));
    }
    if (span.text("name").equals(NAME)) {
      SpanContext context =
          SpanContext.createFromRemoteParent(
              trace, id, TraceFlags.getSampled(), TraceState.getDefault());
      requests.put(trace + id, phases(span, context));
    }
  }

  private static String id(JsonRecord span, String name, int digits) throws StackFormatException {
    String id = span.text(name).toLowerCase(Locale.ROOT);
    if (!id.matches("[0-9a-f]{" + digits + "}")) {
      throw span.expected(digits + " hexadecimal digits", name);
    }
    return id;
  }

  private static List<Phase> phases(JsonRecord span, SpanContext context)
      throws StackFormatException {
    long begin = span.count("startTimeUnixNano");
    long length = span.count("endTimeUnixNano") - begin;
    Map<String, Long> times = times(span);
    long queue = of(times, GenAiAttributes.LATENCY_TIME_IN_QUEUE, 0);
    long prefill = of(times, GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL, 0);
    long decode = of(times, GenAiAttributes.LATENCY_TIME_IN_MODEL_DECODE, 0);
    long first = of(times, GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN, length - decode);
    long most = length + TOLERANCE_NANOS;
    boolean fits = queue + prefill + decode <= most && first <= most;
    if (!fits || times.values().stream().anyMatch(time -> time < 0)) {
      return List.of();
    }
    // The API server receives the first token after the engine produced it, so the phases may have
    // started earlier than is computed here, but not later.
    first = Math.max(first, queue + prefill);
    long error = first - queue - prefill;
    long token = begin + first;
    List<Phase> phases = new ArrayList<>();
    add(phases, new Phase(context, BatchSpans.QUEUE, begin + error, token - prefill, error));
    add(phases, new Phase(context, BatchSpans.PREFILL, token - prefill, token, error));
    add(phases, new Phase(context, BatchSpans.DECODE, token, token + decode, error));
    return phases;
  }

  private static void add(List<Phase> phases, Phase phase) {
    if (phase.endNanos() > phase.beginNanos()) {
      phases.add(phase);
    }
  }

  /** Returns the attributes that are times in seconds, converted to nanoseconds. */
  private static Map<String, Long> times(JsonRecord span) throws StackFormatException {
    Map<String, Long> times = new HashMap<>();
    for (JsonRecord attribute : span.objects("attributes")) {
      String key = attribute.text("key");
      if (TIMES.contains(key)) {
        JsonRecord value = attribute.object("value");
        Double seconds = value.numberOrNull("doubleValue");
        if (seconds == null) {
          seconds = (double) value.count("intValue");
        }
        double nanos = Math.max(-1, Math.min(seconds * NANOS_PER_SECOND, Long.MAX_VALUE / 4.0));
        times.put(key, Math.round(nanos));
      }
    }
    return times;
  }

  private static long of(Map<String, Long> times, Attribute<Double> attribute, long otherwise) {
    Long time = times.get(attribute.key().getKey());
    AttributeKey<Double> latest = attribute.latestKey();
    if (time == null && latest != null) {
      time = times.get(latest.getKey());
    }
    return time == null ? otherwise : time;
  }
}
