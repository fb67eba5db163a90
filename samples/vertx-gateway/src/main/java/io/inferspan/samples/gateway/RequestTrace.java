package io.inferspan.samples.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.epp.Endpoint;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.UpstreamAttempt;
import io.inferspan.gateway.vertx.VertxGateway;
import io.inferspan.propagation.RequestId;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.streams.ReadStream;
import org.jspecify.annotations.Nullable;

/**
 * The trace of a request: every call that the gateway makes to trace one.
 *
 * <p>Without tracing it calls nothing. That a gateway runs without is for the benchmarks, which ask
 * what tracing adds.
 *
 * @param live null without tracing
 */
record RequestTrace(@Nullable GatewayRequest live) {

  private static final RequestTrace NONE = new RequestTrace(null);

  static RequestTrace begin(@Nullable VertxGateway tracing, HttpServerRequest request) {
    return tracing == null ? NONE : new RequestTrace(tracing.begin(request));
  }

  void requestBody(CompletionRequest body) {
    if (live == null) {
      return;
    }
    live.stream(body.stream());
    if (!body.model().isEmpty()) {
      live.model(body.model());
    }
    if (body.maxTokens() >= 0) {
      live.maxTokens(body.maxTokens());
    }
  }

  /** The id that the engine and its logs get: the client's if it is well-formed. */
  String requestId(@Nullable String received) {
    return live == null ? RequestId.of(received) : live.id();
  }

  /** The choice of engines, whose spans hang under this one; null without tracing. */
  @Nullable OperationSpan orchestration(String model) {
    return live == null ? null : live.orchestration(model);
  }

  /** An engine is about to be called. */
  Call call(Endpoint endpoint) {
    return live == null ? Call.NONE : new Call(live.attempt(endpoint.address(), endpoint.port()));
  }

  /**
   * The trace of one call of an engine.
   *
   * @param attempt null without tracing
   */
  record Call(@Nullable UpstreamAttempt attempt) {

    private static final Call NONE = new Call(null);

    /** Connected: the trace goes into the headers. */
    void connected(HttpClientRequest call) {
      if (attempt != null) {
        VertxGateway.calling(attempt, call);
      }
    }

    /** The answer, to be read in its place. */
    ReadStream<Buffer> seen(HttpClientResponse answer) {
      return attempt == null ? answer : VertxGateway.answering(attempt, answer);
    }

    /** The engine has timed out; the request ends with the client's response. */
    void timedOut() {
      if (attempt != null) {
        attempt.timedOut();
      }
    }

    void failed(Throwable cause) {
      if (attempt != null) {
        attempt.fail(cause);
      }
    }
  }
}
