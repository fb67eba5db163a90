package io.inferspan.pd.stage;

import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Gate;
import io.inferspan.pd.upstream.Target;
import io.netty.handler.codec.http.HttpResponse;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of the decoder, and what becomes of its answer.
 *
 * @param body the request's body
 * @param headers headers to add to the client's
 * @param target the decoder where it is not the listener's own
 * @param filter names what changes the answer's body, if anything does; null for nothing
 * @param gate decides whether the client gets the answer; null for yes
 * @param dropped runs where the gate says no
 */
public record DecodeLeg(
    StageBody body,
    Map<String, String> headers,
    @Nullable Target target,
    @Nullable Function<HttpResponse, @Nullable BodyFilter> filter,
    @Nullable Gate gate,
    Runnable dropped) {

  /** The client gets what the decoder answers. */
  public static DecodeLeg of(StageBody body) {
    return new DecodeLeg(body, Map.of(), null, null, null, () -> {});
  }

  public DecodeLeg with(Map<String, String> moreHeaders) {
    return new DecodeLeg(body, moreHeaders, target, filter, gate, dropped);
  }

  /** Another decoder than the listener's own; null for that one. */
  public DecodeLeg on(@Nullable Target decoder) {
    return new DecodeLeg(body, headers, decoder, filter, gate, dropped);
  }

  public DecodeLeg rewritten(Function<HttpResponse, @Nullable BodyFilter> rewriting) {
    return new DecodeLeg(body, headers, target, rewriting, gate, dropped);
  }

  public DecodeLeg gated(Gate decision, Runnable whenDropped) {
    return new DecodeLeg(body, headers, target, filter, decision, whenDropped);
  }
}
