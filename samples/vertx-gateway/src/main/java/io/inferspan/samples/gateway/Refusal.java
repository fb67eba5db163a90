package io.inferspan.samples.gateway;

import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;

/** Error responses of the gateway, in OpenAI's format. */
enum Refusal {
  NO_JSON(400, "invalid_request_error", "the body is not a JSON object"),
  NO_REQUEST(400, "invalid_request_error", "the request is malformed or not for this gateway"),
  TOO_LONG(413, "invalid_request_error", "the body is too long"),
  BROKEN(502, "api_error", "no engine answered"),
  NO_ENDPOINT(503, "api_error", "no endpoint can serve the request"),
  TIMEOUT(504, "api_error", "the engine did not answer in time");

  private final int status;
  private final String body;

  Refusal(int status, String type, String sentence) {
    this.status = status;
    this.body =
        "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,\"code\":%d}}"
            .formatted(sentence, type, status);
  }

  /**
   * Answers a malformed request and closes the connection, because its next bytes may not be the
   * start of a request.
   */
  void answerAndClose(HttpServerRequest request) {
    request.response().putHeader("connection", "close");
    answer(request.response());
    request.connection().close();
  }

  void answer(HttpServerResponse response) {
    if (!response.ended() && !response.closed()) {
      response.setStatusCode(status).putHeader("content-type", "application/json").end(body);
    }
  }
}
