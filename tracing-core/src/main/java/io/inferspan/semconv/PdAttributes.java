package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.flag;
import static io.inferspan.semconv.Attribute.number;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of the prefill/decode (P/D) proxy. */
public final class PdAttributes {

  /** The connector that transfers KV blocks, such as nixlv2. */
  public static final Attribute<String> CONNECTOR = text("llm_d.pd_proxy.connector");

  /** The connector that transfers KV blocks, under its newer key. */
  public static final Attribute<String> KV_CONNECTOR = text("llm_d.pd_proxy.kv_connector");

  /** The connector that transfers encoder output; empty without an encode stage. */
  public static final Attribute<String> EC_CONNECTOR = text("llm_d.pd_proxy.ec_connector");

  /** The path that was called: a known one, a template, or `_OTHER`. */
  public static final Attribute<String> REQUEST_PATH = text("llm_d.pd_proxy.request_path");

  /** chat_completions, responses or generate. */
  public static final Attribute<String> OPENAI_API = text("llm_d.openai.api");

  /** True if prefill ran on another pod. */
  public static final Attribute<Boolean> DISAGGREGATION_USED =
      flag("llm_d.pd_proxy.disaggregation_used");

  /** The reason why prefill did not run on another pod. */
  public static final Attribute<String> REASON = text("llm_d.pd_proxy.reason");

  /** host:port of the prefill pod. */
  public static final Attribute<String> PREFILL_TARGET = text("llm_d.pd_proxy.prefill_target");

  /** Prefill pods that the picker offered. */
  public static final Attribute<Long> PREFILL_CANDIDATES =
      count("llm_d.pd_proxy.prefill_candidates");

  /** The reason why the proxy refused the request. */
  public static final Attribute<String> ERROR = text("llm_d.pd_proxy.error");

  /** The prefill target that is not on the allow-list. */
  public static final Attribute<String> DENIED_TARGET = text("llm_d.pd_proxy.denied_target");

  /** host:port that KV blocks are pulled from. */
  public static final Attribute<String> KV_CACHE_SOURCE = text("llm_d.pd_proxy.kv_cache_source");

  /** True if encoding ran on other pods. */
  public static final Attribute<Boolean> ENCODE_USED =
      flag("llm_d.ec_proxy.encode_disaggregation_used");

  /** Encoders used. */
  public static final Attribute<Long> ENCODER_COUNT = count("llm_d.ec_proxy.encoder_count");

  /** Encoders that the picker offered. */
  public static final Attribute<Long> ENCODER_CANDIDATES =
      count("llm_d.ec_proxy.encoder_candidates");

  /** Encoders on the allow-list. */
  public static final Attribute<Long> ENCODER_ALLOWED = count("llm_d.ec_proxy.encoder_allowed");

  /** Milliseconds from arrival to the last byte. */
  public static final Attribute<Double> TOTAL_DURATION_MS =
      number("llm_d.pd_proxy.total_duration_ms");

  /** Milliseconds from arrival to the start of decode. */
  public static final Attribute<Double> TRUE_TTFT_MS = number("llm_d.pd_proxy.true_ttft_ms");

  /** Milliseconds of the prefill round trip. */
  public static final Attribute<Double> PREFILL_DURATION_MS =
      number("llm_d.pd_proxy.prefill_duration_ms");

  /** Milliseconds of decode, KV transfer included. */
  public static final Attribute<Double> DECODE_DURATION_MS =
      number("llm_d.pd_proxy.decode_duration_ms");

  /** Milliseconds between the two stages. */
  public static final Attribute<Double> COORDINATOR_OVERHEAD_MS =
      number("llm_d.pd_proxy.coordinator_overhead_ms");

  /** Milliseconds that both stages ran. */
  public static final Attribute<Double> PARALLEL_WINDOW_MS =
      number("llm_d.pd_proxy.parallel_window_ms");

  /** True if the stages run at the same time. */
  public static final Attribute<Boolean> CONCURRENT_PD = flag("llm_d.pd_proxy.concurrent_pd");

  /** True if both stages were dispatched at once. */
  public static final Attribute<Boolean> PARALLEL_DISPATCH =
      flag("llm_d.pd_proxy.parallel_dispatch");

  /** The id that both stages share. */
  public static final Attribute<String> REQUEST_ID = text("llm_d.pd_proxy.request_id");

  /** True if decode does not wait for prefill. */
  public static final Attribute<Boolean> PREFILL_ASYNC = flag("llm_d.pd_proxy.prefill.async");

  /** HTTP status that the prefill pod answered. */
  public static final Attribute<Long> PREFILL_STATUS_CODE =
      count("llm_d.pd_proxy.prefill.status_code");

  /** Milliseconds of the stage. */
  public static final Attribute<Double> PREFILL_STAGE_MS =
      number("llm_d.pd_proxy.prefill.duration_ms");

  /** The number under which both stages meet. */
  public static final Attribute<Long> BOOTSTRAP_ROOM = count("llm_d.pd_proxy.bootstrap_room");

  /** True if the client gets a stream. */
  public static final Attribute<Boolean> DECODE_STREAMING = flag("llm_d.pd_proxy.decode.streaming");

  /** True if a data-parallel rank was chosen. */
  public static final Attribute<Boolean> DECODE_DATA_PARALLEL =
      flag("llm_d.pd_proxy.decode.data_parallel");

  /** True if prefill ran at the same time. */
  public static final Attribute<Boolean> DECODE_CONCURRENT =
      flag("llm_d.pd_proxy.decode.concurrent_with_prefill");

  /** host:port of the decoder. */
  public static final Attribute<String> DECODE_TARGET = text("llm_d.pd_proxy.decode.target");

  /** Milliseconds of the stage. */
  public static final Attribute<Double> DECODE_STAGE_MS =
      number("llm_d.pd_proxy.decode.duration_ms");

  /** The number of tokens requested per chunk. */
  public static final Attribute<Long> CHUNK_SIZE =
      count("llm_d.pd_proxy.chunked_decode.chunk_size");

  /** True if the client gets a stream. */
  public static final Attribute<Boolean> CHUNKED_STREAMING =
      flag("llm_d.pd_proxy.chunked_decode.streaming");

  /** Chunks decoded. */
  public static final Attribute<Long> CHUNKS = count("llm_d.pd_proxy.chunked_decode.chunks");

  /** Tokens decoded over all chunks. */
  public static final Attribute<Long> CHUNKED_TOKENS =
      count("llm_d.pd_proxy.chunked_decode.total_tokens");

  /** Milliseconds over all chunks. */
  public static final Attribute<Double> CHUNKED_MS =
      number("llm_d.pd_proxy.chunked_decode.duration_ms");

  private PdAttributes() {}
}
