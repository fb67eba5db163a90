package io.inferspan.pd.request;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.telemetry.Dispatch;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prefill pod's request.
 *
 * @param dispatch when decode starts; a detached prefill continues after its client has
 *     disconnected, and is not retried
 * @param room the number that identifies the transfer to both stages; null if no number does
 */
public record PrefillLeg(
    JsonPieces body, Map<String, String> headers, Dispatch dispatch, @Nullable Long room) {

  /** Returns a prefill that runs before decode. */
  public static PrefillLeg before(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.SERIAL, null);
  }

  /** Returns a prefill concurrent with decode, whose response is not used. */
  public static PrefillLeg concurrent(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.DETACHED, null);
  }

  /**
   * Returns a prefill concurrent with decode. Decode's response is held until prefill has
   * succeeded.
   */
  public static PrefillLeg parallel(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.PARALLEL, null);
  }

  /** Returns a copy with the number that identifies the transfer to both stages. */
  public PrefillLeg in(long meetingRoom) {
    return new PrefillLeg(body, headers, dispatch, meetingRoom);
  }
}
