import io.inferspan.catalog.EngineSpans;
import io.inferspan.catalog.EppSpans;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.catalog.KvCacheSpans;
import io.inferspan.catalog.PdSpans;
import io.inferspan.catalog.SpanNaming;
import io.inferspan.catalog.SpanType;
import io.inferspan.semconv.EppAttributes;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.semconv.KvCacheAttributes;
import io.inferspan.semconv.PdAttributes;
import io.inferspan.semconv.ResponseAttributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Sends requests of nine spans each, like those of the whole stack, in batches as exporters do. */
final class SpanLoad implements AutoCloseable {
  private static final int BATCH = 512;
  private static final String[] MODELS = {"llama-3-70b", "qwen-3-32b", "mistral-large"};

  private final SpanExporter exporter;
  private final List<SpanData> batch = new ArrayList<>(BATCH);
  private final SdkTracerProvider provider;
  private CompletableResultCode inFlight = CompletableResultCode.ofSuccess();
  private long sent;
  private long requests;

  SpanLoad(String endpoint) {
    exporter = OtlpGrpcSpanExporter.builder().setEndpoint(endpoint).build();
    provider = SdkTracerProvider.builder().addSpanProcessor(new Collecting()).build();
  }

  /** Sends at least this number of spans; returns when the desk has accepted all. */
  void send(long spans) {
    long end = sent + spans;
    while (sent + batch.size() < end) {
      request();
    }
    flush();
    await();
  }

  /** Sends requests of one span. */
  void sendLone(long spans) {
    for (long i = 0; i < spans; i++) {
      gateway(requests++).end();
    }
    flush();
    await();
  }

  long sent() {
    return sent;
  }

  private void request() {
    long number = requests++;
    Span gateway = gateway(number);
    Context within = Context.root().with(gateway);
    Span scorer = span(EppSpans.SCORER_PREFIX_CACHE, within);
    span(KvCacheSpans.GET_SCORES, Context.root().with(scorer))
        .setAttribute(KvCacheAttributes.BLOCK_HIT_RATIO.key(), 0.25)
        .end();
    scorer.end();
    span(EppSpans.PROFILE_HANDLER, within)
        .setAttribute(EppAttributes.DECISION.key(), "prefill_decode")
        .setAttribute(EppAttributes.DECISION_REASON.key(), "non_cached_bytes_reach_threshold")
        .setAttribute(EppAttributes.PD_THRESHOLD.key(), 1024L)
        .end();
    Span proxy =
        span(PdSpans.REQUEST, within)
            .setAttribute(PdAttributes.CONNECTOR.key(), "nixlv2")
            .setAttribute(PdAttributes.DISAGGREGATION_USED.key(), true)
            .setAttribute(PdAttributes.TRUE_TTFT_MS.key(), 51.4);
    stage(PdSpans.PREFILL, Context.root().with(proxy), number);
    stage(PdSpans.DECODE, Context.root().with(proxy), number);
    proxy.end();
    gateway.end();
  }

  private Span gateway(long number) {
    return span(GatewaySpans.REQUEST, Context.root())
        .setAttribute(GenAiAttributes.REQUEST_MODEL.key(), MODELS[(int) (number % 3)])
        .setAttribute(GenAiAttributes.REQUEST_ID.key(), "request-" + number)
        .setAttribute(ResponseAttributes.FIRST_TOKEN_MS.key(), (double) (number % 500))
        .setAttribute(ResponseAttributes.TOKENS.key(), 24L);
  }

  private void stage(SpanType type, Context proxy, long number) {
    Span stage = span(type, proxy).setAttribute(PdAttributes.REQUEST_ID.key(), "r" + number);
    span(EngineSpans.LLM_REQUEST, Context.root().with(stage))
        .setAttribute(GenAiAttributes.LATENCY_TIME_TO_FIRST_TOKEN.key(), 0.02)
        .setAttribute(GenAiAttributes.LATENCY_TIME_IN_QUEUE.key(), 0.005)
        .setAttribute(GenAiAttributes.LATENCY_TIME_IN_MODEL_PREFILL.key(), 0.015)
        .setAttribute(GenAiAttributes.LATENCY_E2E.key(), 0.2)
        .setAttribute(GenAiAttributes.USAGE_PROMPT_TOKENS.key(), 396L)
        .setAttribute(GenAiAttributes.USAGE_COMPLETION_TOKENS.key(), 24L)
        .end();
    stage.end();
  }

  private Span span(SpanType type, Context parent) {
    return provider
        .get(type.component().scope(SpanNaming.PROPOSAL))
        .spanBuilder(type.name(SpanNaming.PROPOSAL))
        .setSpanKind(type.kind(SpanNaming.PROPOSAL))
        .setParent(parent)
        .startSpan();
  }

  /** Sends a batch while the next one is created. */
  private void flush() {
    await();
    inFlight = exporter.export(List.copyOf(batch));
    sent += batch.size();
    batch.clear();
  }

  private void await() {
    if (!inFlight.join(30, TimeUnit.SECONDS).isSuccess()) {
      throw new IllegalStateException("the desk did not accept a batch");
    }
  }

  @Override
  public void close() {
    provider.close();
    exporter.close();
  }

  /** Collects spans when they end. */
  private final class Collecting implements SpanProcessor {
    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      batch.add(span.toSpanData());
      if (batch.size() == BATCH) {
        flush();
      }
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
