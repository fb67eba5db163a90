package io.inferspan.testing.engine;

import io.inferspan.testing.engine.EngineScript.Usage;
import io.inferspan.testing.engine.RequestReader.Call;
import org.jspecify.annotations.Nullable;

/**
 * The response to one request, independent of the API's format.
 *
 * @param id the id of the response, which is the request id in traces
 */
record Reply(
    Call call,
    EngineScript script,
    String id,
    @Nullable String kvTransferParams,
    long createdSeconds) {
  static final String DEFAULT_MODEL = "fake-model";

  String model() {
    if (script.model != null) {
      return script.model;
    }
    return call.model() == null ? DEFAULT_MODEL : call.model();
  }

  int promptTokens() {
    return call.promptTokens();
  }

  int cachedTokens() {
    return script.cachedTokens;
  }

  /** Returns the number of tokens of the whole response. */
  int tokens() {
    if (isBelowCacheThreshold()) {
      return 0;
    }
    Integer max = call.limits().maxTokens();
    return max == null ? script.tokens : Math.min(max, script.tokens);
  }

  /**
   * Returns the finish reason in OpenAI's terms. As in vLLM, it is {@code length} if the number of
   * tokens equals the limit.
   */
  String finishReason() {
    if (script.finishReason != null) {
      return script.finishReason;
    }
    if (isBelowCacheThreshold()) {
      return "cache_threshold";
    }
    Integer max = call.limits().maxTokens();
    return max != null && max <= script.tokens ? "length" : "stop";
  }

  String token(int index) {
    if (!script.words.isEmpty()) {
      return script.words.get(index);
    }
    return index == 0 ? "tok0" : " tok" + index;
  }

  String text() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < tokens(); i++) {
      text.append(token(i));
    }
    return text.toString();
  }

  boolean hasUsage() {
    return script.usage != Usage.NONE;
  }

  boolean hasUsageDetails() {
    return script.usage == Usage.FULL;
  }

  private boolean isBelowCacheThreshold() {
    double threshold = call.limits().cacheHitThreshold();
    return threshold > 0 && script.cachedTokens < threshold * call.promptTokens();
  }
}
