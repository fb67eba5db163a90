package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of the prefill/decode (P/D) proxy. */
public final class PdAttributes {

  /** The connector that transfers KV blocks, such as nixlv2. */
  public static final Attribute<String> CONNECTOR = text("llm_d.pd_proxy.connector");

  /** The connector that transfers KV blocks; newer key of the same value. */
  public static final Attribute<String> KV_CONNECTOR = text("llm_d.pd_proxy.kv_connector");

  /** The connector that transfers encoder output; empty without an encode stage. */
  public static final Attribute<String> EC_CONNECTOR = text("llm_d.pd_proxy.ec_connector");

  /** The path of the request: a known path, a template, or {@code _OTHER}. */
  public static final Attribute<String> REQUEST_PATH = text("llm_d.pd_proxy.request_path");

  /** The API: {@code chat_completions}, {@code responses} or {@code generate}. */
  public static final Attribute<String> OPENAI_API = text("llm_d.openai.api");

  /** True if prefill ran on another pod. */
  public static final Attribute<Boolean> DISAGGREGATION_USED =
      flag("llm_d.pd_proxy.disaggregation_used");

  /** Why prefill did not run on another pod. */
  public static final Attribute<String> REASON = text("llm_d.pd_proxy.reason");

  /** The prefill pod, as {@code host:port}. */
  public static final Attribute<String> PREFILL_TARGET = text("llm_d.pd_proxy.prefill_target");

  /** The number of prefill pods in the request header. */
  public static final Attribute<Long> PREFILL_CANDIDATES =
      count("llm_d.pd_proxy.prefill_candidates");

  /** Why the proxy refused the request. */
  public static final Attribute<String> ERROR = text("llm_d.pd_proxy.error");

  /** The prefill target that is not on the allow-list. */
  public static final Attribute<String> DENIED_TARGET = text("llm_d.pd_proxy.denied_target");

  /** The pod from which KV blocks are pulled, as {@code host:port}. */
  public static final Attribute<String> KV_CACHE_SOURCE = text("llm_d.pd_proxy.kv_cache_source");

  /** True if encoding ran on other pods. */
  public static final Attribute<Boolean> ENCODE_USED =
      flag("llm_d.ec_proxy.encode_disaggregation_used");

  /** The number of encoders used. */
  public static final Attribute<Long> ENCODER_COUNT = count("llm_d.ec_proxy.encoder_count");

  /** The number of encoders in the request header. */
  public static final Attribute<Long> ENCODER_CANDIDATES =
      count("llm_d.ec_proxy.encoder_candidates");

  /** The number of these encoders that are on the allow-list. */
  public static final Attribute<Long> ENCODER_ALLOWED = count("llm_d.ec_proxy.encoder_allowed");

  /** Milliseconds from arrival to the last byte. */
  public static final Attribute<Double> TOTAL_DURATION_MS =
      number("llm_d.pd_proxy.total_duration_ms");

  /** Milliseconds from arrival until decode has started and prefill has ended. */
  public static final Attribute<Double> TRUE_TTFT_MS = number("llm_d.pd_proxy.true_ttft_ms");

  /** Milliseconds of the prefill round trip. */
  public static final Attribute<Double> PREFILL_DURATION_MS =
      number("llm_d.pd_proxy.prefill_duration_ms");

  /** Milliseconds of decode, including KV transfer. */
  public static final Attribute<Double> DECODE_DURATION_MS =
      number("llm_d.pd_proxy.decode_duration_ms");

  /** Milliseconds between the end of prefill and the start of decode. */
  public static final Attribute<Double> COORDINATOR_OVERHEAD_MS =
      number("llm_d.pd_proxy.coordinator_overhead_ms");

  /** Milliseconds from the start of the first stage to the end of the last. */
  public static final Attribute<Double> PARALLEL_WINDOW_MS =
      number("llm_d.pd_proxy.parallel_window_ms");

  /** True if prefill and decode run at the same time. */
  public static final Attribute<Boolean> CONCURRENT_PD = flag("llm_d.pd_proxy.concurrent_pd");

  /** True if both stages were dispatched at the same time. */
  public static final Attribute<Boolean> PARALLEL_DISPATCH =
      flag("llm_d.pd_proxy.parallel_dispatch");

  /** The request id that both stages share. */
  public static final Attribute<String> REQUEST_ID = text("llm_d.pd_proxy.request_id");

  /** True if decode does not wait for prefill. */
  public static final Attribute<Boolean> PREFILL_ASYNC = flag("llm_d.pd_proxy.prefill.async");

  /** The HTTP status code of the prefill pod's response. */
  public static final Attribute<Long> PREFILL_STATUS_CODE =
      count("llm_d.pd_proxy.prefill.status_code");

  /** Milliseconds of the prefill stage. */
  public static final Attribute<Double> PREFILL_STAGE_MS =
      number("llm_d.pd_proxy.prefill.duration_ms");

  /** SGLang's {@code bootstrap_room}, which both stages share. */
  public static final Attribute<Long> BOOTSTRAP_ROOM = count("llm_d.pd_proxy.bootstrap_room");

  /** True if the response is a stream. */
  public static final Attribute<Boolean> DECODE_STREAMING = flag("llm_d.pd_proxy.decode.streaming");

  /** True if the header selected a data-parallel rank. */
  public static final Attribute<Boolean> DECODE_DATA_PARALLEL =
      flag("llm_d.pd_proxy.decode.data_parallel");

  /** True if prefill ran at the same time. */
  public static final Attribute<Boolean> DECODE_CONCURRENT =
      flag("llm_d.pd_proxy.decode.concurrent_with_prefill");

  /** The decode engine, as {@code host:port}. */
  public static final Attribute<String> DECODE_TARGET = text("llm_d.pd_proxy.decode.target");

  /** Milliseconds of the decode stage. */
  public static final Attribute<Double> DECODE_STAGE_MS =
      number("llm_d.pd_proxy.decode.duration_ms");

  /** The number of tokens requested per chunk. */
  public static final Attribute<Long> CHUNK_SIZE =
      count("llm_d.pd_proxy.chunked_decode.chunk_size");

  /** True if the response is a stream. */
  public static final Attribute<Boolean> CHUNKED_STREAMING =
      flag("llm_d.pd_proxy.chunked_decode.streaming");

  /** The number of chunks. */
  public static final Attribute<Long> CHUNKS = count("llm_d.pd_proxy.chunked_decode.chunks");

  /** The number of tokens in all chunks. */
  public static final Attribute<Long> CHUNKED_TOKENS =
      count("llm_d.pd_proxy.chunked_decode.total_tokens");

  /** Milliseconds of all chunks. */
  public static final Attribute<Double> CHUNKED_MS =
      number("llm_d.pd_proxy.chunked_decode.duration_ms");

  private PdAttributes() {}
}
