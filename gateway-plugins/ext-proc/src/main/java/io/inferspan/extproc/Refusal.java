package io.inferspan.extproc;

import com.google.protobuf.MessageLite;
import io.inferspan.extproc.wire.HeaderChanges;
import io.inferspan.extproc.wire.ProcessingResponse;
import org.jspecify.annotations.Nullable;

/**
 * An error response to the client, instead of routing the request.
 *
 * @param type the type of the error in one word
 * @param reason the value of llm-d's header for dropped requests, or null
 */
record Refusal(int status, String type, String message, @Nullable String reason) {

  private static final String REASON_HEADER = "x-llm-d-request-dropped-reason";

  static final Refusal NO_ENDPOINT =
      new Refusal(503, "service_unavailable", "no endpoint can serve the request", null);
  static final Refusal NO_ROOM =
      new Refusal(
          503,
          "service_unavailable",
          "the gateway has reached its limit of buffered request bodies; try again later",
          null);
  static final Refusal BODY_TOO_LARGE =
      new Refusal(
          413, "request_too_large", "the request body is larger than the gateway's limit", null);

  static Refusal rejected(Admission.Rejection rejection) {
    return new Refusal(
        429,
        "too_many_requests",
        "the request was rejected by admission control",
        rejection.reason());
  }

  MessageLite toMessage() {
    HeaderChanges headers = new HeaderChanges().set("content-type", "application/json");
    if (reason != null) {
      headers.set(REASON_HEADER, reason);
    }
    return ProcessingResponse.immediate(status, headers, body(), "epp_" + type);
  }

  private String body() {
    return "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"code\":%d}}"
        .formatted(message, type, status);
  }
}
