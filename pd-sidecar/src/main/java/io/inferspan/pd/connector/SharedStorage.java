package io.inferspan.pd.connector;

import com.google.auto.service.AutoService;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.upstream.EngineAnswer;
import java.util.List;
import java.util.Map;

/**
 * The connector {@code shared-storage}: both engines use the same store of KV blocks, and prefill
 * only fills it.
 *
 * <p>If the client sets a cache-hit threshold, decode is tried first, and prefill runs only if the
 * decoder finds too few blocks in the store.
 */
@AutoService(KvConnector.class)
public final class SharedStorage implements Connector {

  @Override
  public About about() {
    return new About(
        "shared-storage",
        "decode first if the client names `cache_hit_threshold`, else prefill, then decode",
        "nothing: the storage is shared");
  }

  @Override
  public List<String> formerly() {
    return List.of("lmcache");
  }

  @Override
  public void serve(PdRequest request) {
    if (!request.body().has(BodyMembers.CACHE_HIT_THRESHOLD)) {
      prefill(request);
      return;
    }
    CacheHitGate gate = new CacheHitGate(request, unreadable -> dropped(request, unreadable));
    gate.recheckedBy(request.streamWhole(DecodeLeg.of(request.body().original()).gated(gate)));
  }

  private static void dropped(PdRequest request, boolean unreadable) {
    if (unreadable) {
      request.refuse(
          EngineAnswer.internalError("the decoder's answer is not a JSON object"),
          "500",
          "InternalServerError");
    } else {
      prefill(request);
    }
  }

  private static void prefill(PdRequest request) {
    request.ask(
        PrefillLeg.before(prefillBody(request).pieces(), Map.of()),
        answer -> afterPrefill(request, answer));
  }

  private static JsonEdit prefillBody(PdRequest request) {
    JsonEdit edit =
        withoutThreshold(request)
            .set(BodyMembers.MAX_TOKENS, 1)
            .set(BodyMembers.MAX_COMPLETION_TOKENS, 1);
    return TokenCaps.ofApi(edit, request.api());
  }

  private static JsonEdit withoutThreshold(PdRequest request) {
    return request.body().edit().set(BodyMembers.CACHE_HIT_THRESHOLD, 0);
  }

  private static void afterPrefill(PdRequest request, EngineAnswer answer) {
    if (answer.ok()) {
      request.stream(DecodeLeg.of(withoutThreshold(request).pieces()));
    } else {
      request.deliver(answer.failure() == null ? answer.with(EngineAnswer.plainText()) : answer);
    }
  }
}
