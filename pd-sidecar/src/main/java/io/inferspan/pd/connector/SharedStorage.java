package io.inferspan.pd.connector;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.metrics.Api;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.PrefillLeg;
import io.inferspan.pd.stage.StageBody;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code shared-storage}: both engines see the same store of KV blocks, so prefill only fills it.
 *
 * <p>A client that names a cache-hit threshold has decode tried first: prefill runs where the
 * decoder finds too little in the store.
 */
public final class SharedStorage implements Connector {
  private static final String PLAIN_TEXT = "text/plain; charset=utf-8";

  private final int jsonDepth;

  public SharedStorage(int jsonDepth) {
    this.jsonDepth = jsonDepth;
  }

  @Override
  public String name() {
    return "shared-storage";
  }

  @Override
  public void serve(PdRequest request) {
    if (!request.body().has(BodyMembers.CACHE_HIT_THRESHOLD)) {
      prefill(request);
      return;
    }
    CacheHitGate gate =
        new CacheHitGate(request.streaming(), jsonDepth, request.limits().bodyBytes());
    request.decode(
        DecodeLeg.of(request.original())
            .rewritten(SharedStorage::withoutHeadersOfErrors)
            .gated(gate, () -> kept(request, gate)));
  }

  private static void kept(PdRequest request, CacheHitGate gate) {
    if (gate.unreadable()) {
      request.refuse(
          HttpResponseStatus.INTERNAL_SERVER_ERROR,
          "InternalServerError",
          "the decoder's answer is not a JSON object");
    } else {
      prefill(request);
    }
  }

  private static void prefill(PdRequest request) {
    request
        .prefill(PrefillLeg.before(StageBody.of(prefillBody(request)), Map.of()))
        .onSuccess(answer -> afterPrefill(request, answer));
  }

  private static JsonEdit prefillBody(PdRequest request) {
    JsonEdit edit =
        withoutThreshold(request)
            .set(BodyMembers.MAX_TOKENS, 1)
            .set(BodyMembers.MAX_COMPLETION_TOKENS, 1);
    // Engines look elsewhere for the limit of these, and would generate the whole answer.
    if (request.api() == Api.RESPONSES) {
      edit.set(BodyMembers.MAX_OUTPUT_TOKENS, 1);
    } else if (request.api() == Api.GENERATE) {
      edit.within(BodyMembers.SAMPLING_PARAMS).set(BodyMembers.MAX_TOKENS, 1);
    }
    return edit;
  }

  private static JsonEdit withoutThreshold(PdRequest request) {
    return request.body().edit().set(BodyMembers.CACHE_HIT_THRESHOLD, 0);
  }

  private static void afterPrefill(PdRequest request, EngineAnswer answer) {
    if (answer.ok()) {
      request.decode(DecodeLeg.of(StageBody.of(withoutThreshold(request))));
    } else {
      request.deliver(
          new EngineAnswer(answer.status(), errorHeaders(), answer.body(), answer.failure()));
    }
  }

  /** Of an error the client gets status and body only. */
  private static @Nullable BodyFilter withoutHeadersOfErrors(HttpResponse head) {
    if (head.status().codeClass() != HttpStatusClass.SUCCESS) {
      String length = head.headers().get(HttpHeaderNames.CONTENT_LENGTH);
      head.headers().clear().add(errorHeaders());
      if (length != null) {
        head.headers().set(HttpHeaderNames.CONTENT_LENGTH, length);
      }
    }
    return null;
  }

  private static HttpHeaders errorHeaders() {
    return new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, PLAIN_TEXT);
  }
}
