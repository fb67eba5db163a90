package io.inferspan.pd.request;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.tracing.Dispatch;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prefill pod's request.
 *
 * @param body the request's body
 * @param headers headers to add to the client's
 * @param dispatch when decode starts; a detached prefill outlives its client and is not retried
 * @param room the number that identifies the transfer to both stages, or null if it is not a number
 */
public record PrefillLeg(
    JsonPieces body, Map<String, String> headers, Dispatch dispatch, @Nullable Long room) {

  /** Prefill first, then decode. */
  public static PrefillLeg before(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.SERIAL, null);
  }

  /** Prefill while decode runs; its answer is not used. */
  public static PrefillLeg concurrent(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.DETACHED, null);
  }

  /** Prefill while decode runs, whose answer the client gets once this one is there. */
  public static PrefillLeg parallel(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.PARALLEL, null);
  }

  /** The same, with a number under which both stages meet. */
  public PrefillLeg in(long meetingRoom) {
    return new PrefillLeg(body, headers, dispatch, meetingRoom);
  }
}
