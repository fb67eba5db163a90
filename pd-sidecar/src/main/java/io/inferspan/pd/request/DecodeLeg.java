package io.inferspan.pd.request;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.telemetry.StageTrace;
import io.inferspan.pd.upstream.Target;
import io.inferspan.semconv.PdAttributes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request to the decoder, and the handling of its response.
 *
 * @param target the decoder if it is not the listener's own
 * @param cachedTokens the count that replaces the decoder's in its response; null for none
 * @param gate decides whether the client gets the response; null for always
 */
public record DecodeLeg(
    JsonPieces body,
    Map<String, String> headers,
    @Nullable Target target,
    @Nullable Long cachedTokens,
    @Nullable Gate gate) {

  /** Creates a leg whose response is passed to the client. */
  public static DecodeLeg of(JsonPieces body) {
    return new DecodeLeg(body, Map.of(), null, null, null);
  }

  /** Returns a copy that uses {@code decoder}; null stands for the listener's own. */
  public DecodeLeg on(@Nullable Target decoder) {
    return new DecodeLeg(body, headers, decoder, cachedTokens, gate);
  }

  public DecodeLeg gated(Gate decision) {
    return new DecodeLeg(body, headers, target, cachedTokens, decision);
  }

  public Target decoder(PdRequest request) {
    return target == null ? request.ownDecoder() : target;
  }

  /** Sets the attributes of this leg on its span. */
  public void describe(StageTrace stage, PdRequest request) {
    boolean routed = target != null && request.decision().routed();
    stage.set(PdAttributes.DECODE_STREAMING, request.body().streaming());
    stage.set(PdAttributes.DECODE_DATA_PARALLEL, routed);
    if (!routed) {
      stage.set(PdAttributes.DECODE_TARGET, decoder(request).authority());
    }
  }
}
