package io.inferspan.samples.desk.page;

import static io.inferspan.samples.desk.page.SentTrace.failed;
import static io.inferspan.samples.desk.page.SentTrace.with;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.trace.v1.Span;

/** Requests as gateway, sidecar, engines and eBPF agent report them. */
final class Requests {

  static final String MODEL = "meta-llama/Llama-3.3-70B-Instruct";
  static final String AGENT = "inferspan-ebpf-agent";
  static final double TTFT_MS = 60;

  private static final String GATEWAY = "llm-gateway";
  private static final String PROXY = "llm-d-pd-proxy";

  private Requests() {}

  /**
   * Returns a request with prefill on one pod and decode on another, and with folded calls of the
   * engine.
   */
  static SentTrace prefillDecode(String model) {
    SentTrace trace = new SentTrace();
    Span.Builder root = root(trace, model, 250);
    decision(trace, root.getSpanId(), "prefill_decode", "non_cached_bytes_reach_threshold", 1539L);
    Span.Builder proxy = trace.span(PROXY, "llm_d.pd_proxy.request", root.getSpanId(), 4, 245);
    with(proxy, "llm_d.pd_proxy.true_ttft_ms", 51.5);
    Span.Builder prefill = trace.span(PROXY, "llm_d.pd_proxy.prefill", proxy.getSpanId(), 4.5, 46);
    engine(trace, "vllm-prefill-pod", prefill.getSpanId(), 5, 44);
    Span.Builder decode = trace.span(PROXY, "llm_d.pd_proxy.decode", proxy.getSpanId(), 51, 197);
    Span.Builder engine = engine(trace, "vllm-decode-pod", decode.getSpanId(), 52.5, 195);
    folded(trace, engine.getSpanId());
    return trace;
  }

  /** Returns a request without remote prefill, because most of its prompt was cached. */
  static SentTrace decodeOnly(String model) {
    SentTrace trace = new SentTrace();
    Span.Builder root = root(trace, model, 180);
    decision(trace, root.getSpanId(), "decode_only", "non_cached_bytes_below_threshold", 120L);
    Span.Builder proxy = trace.span(PROXY, "llm_d.pd_proxy.request", root.getSpanId(), 4, 175);
    engine(trace, "vllm-decode-pod", proxy.getSpanId(), 5, 173);
    return trace;
  }

  /** Returns a request that failed because its prefill failed. */
  static SentTrace failedPrefill(String model) {
    SentTrace trace = new SentTrace();
    Span.Builder root = trace.span(GATEWAY, "gateway.request", ByteString.EMPTY, 0, 50);
    failed(with(root.setKind(Span.SpanKind.SPAN_KIND_SERVER), "gen_ai.request.model", model), "");
    with(root, "error.type", "upstream_reset");
    Span.Builder proxy = trace.span(PROXY, "llm_d.pd_proxy.request", root.getSpanId(), 4, 45);
    failed(
        trace.span(PROXY, "llm_d.pd_proxy.prefill", proxy.getSpanId(), 5, 43),
        "connection reset by peer");
    return trace;
  }

  private static Span.Builder root(SentTrace trace, String model, double tookMs) {
    Span.Builder root =
        trace
            .span(GATEWAY, "gateway.request", ByteString.EMPTY, 0, tookMs)
            .setKind(Span.SpanKind.SPAN_KIND_SERVER);
    with(root, "gen_ai.request.model", model);
    with(root, "gen_ai.request.id", "req-" + trace.id().substring(0, 8));
    with(root, "http.response.status_code", 200L);
    with(root, "inferspan.response.first_token_ms", TTFT_MS);
    with(root, "inferspan.gateway.queue_ms", 1.25);
    with(root, "inferspan.gateway.schedule_ms", 2.5);
    with(root, "gen_ai.usage.completion_tokens", 24L);
    ByteString id = root.getSpanId();
    Span.Builder scores = trace.span(GATEWAY, "llm_d.kv_cache.get_scores", id, 1.5, 0.75);
    with(scores, "llm_d.kv_cache.block_hit_ratio", 0.29);
    trace.span(GATEWAY, "llm_d.kv_cache.storage.lookup", scores.getSpanId(), 1.6, 0.2);
    return root;
  }

  private static void decision(
      SentTrace trace, ByteString parent, String decision, String reason, long nonCachedBytes) {
    Span.Builder pick = trace.span(GATEWAY, "llm_d.epp.profile_handler.pick", parent, 2.5, 0.0125);
    with(pick, "llm_d.epp.profile_handler.decision", decision);
    with(pick, "llm_d.epp.profile_handler.reason", reason);
    with(pick, "llm_d.epp.profile_handler.pd_threshold", 1024L);
    with(pick, "llm_d.epp.profile_handler.non_cached_bytes", nonCachedBytes);
    with(pick, "llm_d.epp.profile_handler.user_input_bytes", 2179L);
    with(pick, "llm_d.epp.profile_handler.cache_hit_ratio", 1 - nonCachedBytes / 2179.0);
  }

  private static Span.Builder engine(
      SentTrace trace, String pod, ByteString parent, double atMs, double tookMs) {
    return with(
        trace
            .span(pod, "llm_request", parent, atMs, tookMs)
            .setKind(Span.SpanKind.SPAN_KIND_SERVER),
        "gen_ai.latency.time_to_first_token",
        TTFT_MS / 1000 - atMs / 1000);
  }

  private static void folded(SentTrace trace, ByteString engine) {
    Span.Builder launches = trace.span(AGENT, "cuda.launch (folded)", engine, 53, 190);
    with(launches, "inferspan.ebpf.count", 1248L);
    with(launches, "inferspan.ebpf.duration.sum_ns", 17_000_000L);
    with(launches, "inferspan.ebpf.duration.min_ns", 1_100L);
    with(launches, "inferspan.ebpf.duration.p50_ns", 4_200L);
    with(launches, "inferspan.ebpf.duration.p99_ns", 31_000L);
    with(launches, "inferspan.ebpf.duration.max_ns", 412_000L);
    with(launches, "inferspan.ebpf.offset.first_ns", 200_000L);
    with(launches, "inferspan.ebpf.offset.last_ns", 189_000_000L);
    with(launches, "inferspan.ebpf.dropped", 93L);
    with(launches, "inferspan.ebpf.coverage", 0.93);
  }
}
