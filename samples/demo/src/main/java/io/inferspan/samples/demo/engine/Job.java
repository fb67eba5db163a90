package io.inferspan.samples.demo.engine;

import io.inferspan.samples.prefixrouting.WordTokens;
import io.inferspan.testing.engine.EngineScript;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * The work of an engine for one request.
 *
 * @param tokens the prompt's tokens
 * @param hashes the hashes of the prompt's full blocks
 * @param computed the number of prompt tokens to compute, which are neither cached nor received
 *     from another pod
 * @param deviceMillis the device time of this computation, which is shorter than the script's
 *     prefill time: the device is done before the first token is due
 * @param script the timing for the fake engine
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Job(int[] tokens, long[] hashes, int computed, long deviceMillis, EngineScript script) {

  private static final long BASE_MICROS = 6_000;
  private static final long TOKEN_MICROS = 150;

  /** The part of the base time in which the device is idle: scheduling and sampling. */
  private static final long HOST_MICROS = 4_000;

  private static final int SLOWER = 6;
  private static final int ANSWER_TOKENS = 24;
  private static final int LONG_ANSWER_TOKENS = 400;
  private static final Duration BETWEEN_TOKENS = Duration.ofMillis(8);
  private static final JsonArray NO_MESSAGES = new JsonArray();

  /** Reads a request. Invalid JSON gives a job without tokens, which the fake engine rejects. */
  static Job of(byte[] body, Behaviour behaviour, PrefixCache cache) {
    JsonObject request = read(body);
    boolean prefills = transfers(request, "do_remote_decode");
    boolean receives = transfers(request, "do_remote_prefill");
    int[] tokens = WordTokens.of(messages(request));
    long[] hashes = PrefixCache.hashes(tokens);
    int cached = cache.heldBlocks(hashes) * PrefixCache.BLOCK_TOKENS;
    int computed = receives ? 0 : tokens.length - cached;
    boolean slow = behaviour == Behaviour.SLOW_PREFILL && !receives;
    long micros = (BASE_MICROS + TOKEN_MICROS * computed) * (slow ? SLOWER : 1);
    EngineScript.Builder script =
        EngineScript.builder()
            .tokens(behaviour == Behaviour.LONG_ANSWER ? LONG_ANSWER_TOKENS : ANSWER_TOKENS)
            .cachedTokens(tokens.length - computed)
            .prefill(Duration.ofNanos(micros * 1_000))
            .betweenTokens(BETWEEN_TOKENS);
    if (behaviour == Behaviour.FAILING_PREFILL && prefills) {
      script.failWith(500, "CUDA error: an illegal memory access was encountered");
    }
    return new Job(tokens, hashes, computed, (micros - HOST_MICROS) / 1_000, script.build());
  }

  private static boolean transfers(JsonObject request, String how) {
    return request.getValue("kv_transfer_params") instanceof JsonObject transfer
        && Boolean.TRUE.equals(transfer.getValue(how));
  }

  private static JsonObject read(byte[] body) {
    try {
      return new JsonObject(new String(body, StandardCharsets.UTF_8));
    } catch (DecodeException e) {
      return new JsonObject();
    }
  }

  private static byte[] messages(JsonObject request) {
    Object messages = request.getValue("messages", NO_MESSAGES);
    return (messages instanceof JsonArray array ? array : NO_MESSAGES)
        .encode()
        .getBytes(StandardCharsets.UTF_8);
  }
}
