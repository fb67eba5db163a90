package io.inferspan.pd.stage;

import io.inferspan.pd.tracing.Dispatch;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of the prefill pod.
 *
 * @param body the request's body
 * @param headers headers to add to the client's
 * @param dispatch when decode starts; a detached prefill outlives its client and is tried once
 * @param room the number under which both stages meet, or null where it is not a number
 */
public record PrefillLeg(
    StageBody body, Map<String, String> headers, Dispatch dispatch, @Nullable Long room) {

  /** Prefill first, then decode. */
  public static PrefillLeg before(StageBody body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.SERIAL, null);
  }

  /** Prefill while decode runs; the answer matters to nobody. */
  public static PrefillLeg beside(StageBody body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.DETACHED, null);
  }

  /** Prefill while decode runs, whose answer the client gets once this one is there. */
  public static PrefillLeg parallel(StageBody body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.PARALLEL, null);
  }

  /** The same, with a number under which both stages meet. */
  public PrefillLeg in(long meetingRoom) {
    return new PrefillLeg(body, headers, dispatch, meetingRoom);
  }
}
