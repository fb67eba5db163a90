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
 * The trace of a request: the calls of the tracing library while the gateway serves the request.
 *
 * <p>Without tracing, the methods do nothing. Benchmarks compare both cases.
 *
 * @param request the traced request; null without tracing
 */
record RequestTrace(@Nullable GatewayRequest request) {

  private static final RequestTrace NONE = new RequestTrace(null);

  static RequestTrace begin(@Nullable VertxGateway tracing, HttpServerRequest request) {
    return tracing == null ? NONE : new RequestTrace(tracing.begin(request));
  }

  void requestBody(CompletionRequest body) {
    if (request == null) {
      return;
    }
    request.stream(body.stream());
    if (!body.model().isEmpty()) {
      request.model(body.model());
    }
    if (body.maxTokens() >= 0) {
      request.maxTokens(body.maxTokens());
    }
  }

  /**
   * Returns the request id to send to the engine: the client's if it is well-formed, else a random
   * one.
   */
  String requestId(@Nullable String received) {
    return request == null ? RequestId.of(received) : request.id();
  }

  /** Starts the span of endpoint picking; returns null without tracing. */
  @Nullable OperationSpan orchestration(String model) {
    return request == null ? null : request.orchestration(model);
  }

  /** Called before a call to an engine. */
  Call call(Endpoint endpoint) {
    return request == null
        ? Call.NONE
        : new Call(request.attempt(endpoint.address(), endpoint.port()));
  }

  /**
   * The trace of one call to an engine.
   *
   * @param attempt the traced attempt; null without tracing
   */
  record Call(@Nullable UpstreamAttempt attempt) {

    private static final Call NONE = new Call(null);

    /** Called when the connection is established; writes the trace context into the headers. */
    void connected(HttpClientRequest call) {
      if (attempt != null) {
        VertxGateway.calling(attempt, call);
      }
    }

    /** Returns the observed response, to read instead of the engine's. */
    ReadStream<Buffer> seen(HttpClientResponse answer) {
      return attempt == null ? answer : VertxGateway.answering(attempt, answer);
    }

    /** Called when the engine has timed out. */
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
