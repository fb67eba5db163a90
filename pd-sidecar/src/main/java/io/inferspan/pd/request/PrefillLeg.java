package io.inferspan.pd.request;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.telemetry.Dispatch;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The request to the prefill pod.
 *
 * @param dispatch when decode starts; a detached prefill continues after its client has
 *     disconnected, and is not retried
 * @param room SGLang's bootstrap room, a number that identifies the transfer to both stages; null
 *     for other connectors
 */
public record PrefillLeg(
    JsonPieces body, Map<String, String> headers, Dispatch dispatch, @Nullable Long room) {

  /** Returns a prefill that runs before decode. */
  public static PrefillLeg before(JsonPieces body, Map<String, String> headers) {
    return new PrefillLeg(body, headers, Dispatch.SERIAL, null);
  }
}
