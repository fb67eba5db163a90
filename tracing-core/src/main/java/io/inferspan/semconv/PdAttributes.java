package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of the prefill/decode (P/D) proxy. */
public final class PdAttributes {

  public static final Attribute<String> CONNECTOR =
      text("llm_d.pd_proxy.connector", "How KV blocks travel, such as nixlv2.");
  public static final Attribute<String> KV_CONNECTOR =
      text("llm_d.pd_proxy.kv_connector", "The same, under its newer key.");
  public static final Attribute<String> EC_CONNECTOR =
      text("llm_d.pd_proxy.ec_connector", "How encoder output travels; empty for no encode stage.");
  public static final Attribute<String> REQUEST_PATH =
      text("llm_d.pd_proxy.request_path", "The API path that was called.");
  public static final Attribute<String> OPENAI_API =
      text("llm_d.openai.api", "chat_completions, responses or generate.");
  public static final Attribute<Boolean> DISAGGREGATION_USED =
      flag("llm_d.pd_proxy.disaggregation_used", "Whether prefill ran on another pod.");
  public static final Attribute<String> REASON = text("llm_d.pd_proxy.reason", "Why it did not.");
  public static final Attribute<String> PREFILL_TARGET =
      text("llm_d.pd_proxy.prefill_target", "host:port of the prefill pod.");
  public static final Attribute<Long> PREFILL_CANDIDATES =
      count("llm_d.pd_proxy.prefill_candidates", "Prefill pods that the picker offered.");
  public static final Attribute<String> ERROR =
      text("llm_d.pd_proxy.error", "Why the proxy refused the request.");
  public static final Attribute<String> DENIED_TARGET =
      text("llm_d.pd_proxy.denied_target", "The prefill target that is not on the allow-list.");
  public static final Attribute<String> KV_CACHE_SOURCE =
      text("llm_d.pd_proxy.kv_cache_source", "host:port that KV blocks are pulled from.");
  public static final Attribute<Boolean> ENCODE_USED =
      flag("llm_d.ec_proxy.encode_disaggregation_used", "Whether encoding ran on other pods.");
  public static final Attribute<Long> ENCODER_COUNT =
      count("llm_d.ec_proxy.encoder_count", "Encoders used.");
  public static final Attribute<Long> ENCODER_CANDIDATES =
      count("llm_d.ec_proxy.encoder_candidates", "Encoders that the picker offered.");
  public static final Attribute<Long> ENCODER_ALLOWED =
      count("llm_d.ec_proxy.encoder_allowed", "Encoders on the allow-list.");

  public static final Attribute<Double> TOTAL_DURATION_MS =
      number("llm_d.pd_proxy.total_duration_ms", "Milliseconds from arrival to the last byte.");
  public static final Attribute<Double> TRUE_TTFT_MS =
      number("llm_d.pd_proxy.true_ttft_ms", "Milliseconds from arrival to the start of decode.");
  public static final Attribute<Double> PREFILL_DURATION_MS =
      number("llm_d.pd_proxy.prefill_duration_ms", "Milliseconds of the prefill round trip.");
  public static final Attribute<Double> DECODE_DURATION_MS =
      number("llm_d.pd_proxy.decode_duration_ms", "Milliseconds of decode, KV transfer included.");
  public static final Attribute<Double> COORDINATOR_OVERHEAD_MS =
      number("llm_d.pd_proxy.coordinator_overhead_ms", "Milliseconds between the two stages.");
  public static final Attribute<Double> PARALLEL_WINDOW_MS =
      number("llm_d.pd_proxy.parallel_window_ms", "Milliseconds that both stages ran.");
  public static final Attribute<Boolean> CONCURRENT_PD =
      flag("llm_d.pd_proxy.concurrent_pd", "Whether the stages run at the same time.");
  public static final Attribute<Boolean> PARALLEL_DISPATCH =
      flag("llm_d.pd_proxy.parallel_dispatch", "Whether both stages were dispatched at once.");

  public static final Attribute<String> REQUEST_ID =
      text("llm_d.pd_proxy.request_id", "The id that both stages share.");
  public static final Attribute<Boolean> PREFILL_ASYNC =
      flag("llm_d.pd_proxy.prefill.async", "Whether decode does not wait for prefill.");
  public static final Attribute<Long> PREFILL_STATUS_CODE =
      count("llm_d.pd_proxy.prefill.status_code", "HTTP status that the prefill pod answered.");
  public static final Attribute<Double> PREFILL_STAGE_MS =
      number("llm_d.pd_proxy.prefill.duration_ms", "Milliseconds of the stage.");
  public static final Attribute<Long> BOOTSTRAP_ROOM =
      count("llm_d.pd_proxy.bootstrap_room", "The number under which both stages meet.");

  public static final Attribute<Boolean> DECODE_STREAMING =
      flag("llm_d.pd_proxy.decode.streaming", "Whether the client gets a stream.");
  public static final Attribute<Boolean> DECODE_DATA_PARALLEL =
      flag("llm_d.pd_proxy.decode.data_parallel", "Whether a data-parallel rank was chosen.");
  public static final Attribute<Boolean> DECODE_CONCURRENT =
      flag("llm_d.pd_proxy.decode.concurrent_with_prefill", "Whether prefill ran meanwhile.");
  public static final Attribute<String> DECODE_TARGET =
      text("llm_d.pd_proxy.decode.target", "host:port of the decoder.");
  public static final Attribute<Double> DECODE_STAGE_MS =
      number("llm_d.pd_proxy.decode.duration_ms", "Milliseconds of the stage.");

  public static final Attribute<Long> CHUNK_SIZE =
      count("llm_d.pd_proxy.chunked_decode.chunk_size", "Tokens asked for per chunk.");
  public static final Attribute<Boolean> CHUNKED_STREAMING =
      flag("llm_d.pd_proxy.chunked_decode.streaming", "Whether the client gets a stream.");
  public static final Attribute<Long> CHUNKS =
      count("llm_d.pd_proxy.chunked_decode.chunks", "Chunks decoded.");
  public static final Attribute<Long> CHUNKED_TOKENS =
      count("llm_d.pd_proxy.chunked_decode.total_tokens", "Tokens decoded over all chunks.");
  public static final Attribute<Double> CHUNKED_MS =
      number("llm_d.pd_proxy.chunked_decode.duration_ms", "Milliseconds over all chunks.");

  private PdAttributes() {}
}
