package io.inferspan.samples.gateway;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.InferenceRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.gateway.vertx.VertxGateway;
import io.inferspan.propagation.RequestId;
import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.streams.ReadStream;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Handles one request: picks an endpoint, forwards the request, retries, and sends the response.
 *
 * <p>All calls run on the event loop of the connection.
 */
final class Exchange {

  private final GatewayHandler.Parts parts;
  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final RequestTrace trace;
  private final MultiMap headers;
  private final String id;
  private Buffer body = Buffer.buffer();
  private List<Endpoint> targets = List.of();
  private @Nullable Endpoint prefiller;
  private @Nullable HttpClientRequest call;

  Exchange(GatewayHandler.Parts parts, HttpServerRequest request, RequestTrace trace) {
    this.parts = parts;
    this.request = request;
    this.response = request.response();
    this.trace = trace;
    this.headers = Headers.toEngine(request.headers());
    this.id = trace.requestId(headers.get(RequestId.HEADER));
    headers.set(RequestId.HEADER, id);
    response.closeHandler(gone -> cancel());
  }

  /** Cancels the request to the engine, because the client has disconnected. */
  private void cancel() {
    HttpClientRequest current = call;
    if (current != null) {
      current.reset();
    }
  }

  void serve(Buffer whole, boolean inference) {
    body = whole;
    if (!inference) {
      targets = List.of(parts.fleet().leastBusy());
      attempt(0);
      return;
    }
    byte[] bytes = whole.getBytes();
    CompletionRequest body = CompletionRequest.read(bytes);
    if (body == null) {
      Refusal.NO_JSON.answer(response);
    } else {
      schedule(body);
    }
  }

  private void schedule(CompletionRequest body) {
    trace.requestBody(body);
    InferenceRequest.Builder inference =
        InferenceRequest.to(body.model())
            .id(id)
            .headers(Headers.asMap(headers))
            .input(body.input())
            .tokenizedBy(parts.tokenizer())
            .streaming(body.stream());
    Context context = parts.vertx().getOrCreateContext();
    parts
        .routing()
        .route(inference.build(), Headers.mutable(headers), trace)
        .whenComplete(
            (result, failure) -> {
              // A scorer may complete on another thread.
              if (context.equals(Vertx.currentContext())) {
                scheduled(result);
              } else {
                context.runOnContext(here -> scheduled(result));
              }
            });
  }

  private void scheduled(@Nullable SchedulingResult result) {
    if (result == null || result.targets().isEmpty()) {
      Refusal.NO_ENDPOINT.answer(response);
      return;
    }
    targets = result.targets();
    prefiller = result.prefillTarget();
    attempt(0);
  }

  private void attempt(int number) {
    if (response.closed()) {
      return;
    }
    new Attempt(number).begin();
  }

  private RequestOptions options(Endpoint endpoint) {
    return new RequestOptions()
        .setMethod(request.method())
        .setHost(endpoint.address())
        .setPort(endpoint.port())
        .setURI(request.uri())
        .setIdleTimeout(parts.config().answerTimeout().toMillis());
  }

  /** A call to an engine. */
  private final class Attempt {
    private final int number;
    private final Endpoint endpoint;
    private final RequestTrace.Call traced;
    private boolean ended;

    Attempt(int number) {
      this.number = number;
      this.endpoint = targets.get(number);
      this.traced = trace.call(endpoint);
    }

    void begin() {
      parts.fleet().begin(endpoint);
      parts.fleet().begin(prefiller);
      parts
          .client()
          .request(options(endpoint))
          .onComplete(
              connected -> {
                if (connected.succeeded()) {
                  send(connected.result());
                } else {
                  failed(connected.cause());
                }
              });
    }

    private void send(HttpClientRequest outgoing) {
      call = outgoing;
      if (response.closed()) {
        outgoing.reset();
        failed(new ClosedChannelException());
        return;
      }
      outgoing.headers().addAll(headers);
      traced.connected(outgoing);
      outgoing
          .send(body)
          .compose(VertxGateway::requireFinal)
          .onComplete(
              answered -> {
                if (answered.succeeded()) {
                  answered(answered.result());
                } else {
                  failed(answered.cause());
                }
              });
    }

    private void answered(HttpClientResponse answer) {
      ReadStream<Buffer> chunks = traced.seen(answer);
      if (isUnavailable(answer.statusCode()) && mayRetry()) {
        // Read the response to its end, so that the connection can be reused.
        chunks.handler(chunk -> {}).endHandler(end -> next()).exceptionHandler(broken -> next());
        return;
      }
      relay(answer, chunks);
    }

    private void relay(HttpClientResponse answer, ReadStream<Buffer> chunks) {
      response.setStatusCode(answer.statusCode());
      Headers.toClient(answer.headers(), response.headers());
      if (!response.headers().contains(HttpHeaders.CONTENT_LENGTH)) {
        response.setChunked(true);
      }
      chunks
          .pipe()
          .endOnFailure(false)
          .to(response)
          .onComplete(
              relayed -> {
                end();
                if (relayed.failed()) {
                  answer.request().reset();
                  // Part of the response has been sent: a reset shows that it is incomplete.
                  response.reset();
                }
              });
    }

    private void failed(Throwable cause) {
      if (ended) {
        return;
      }
      boolean timedOut = cause instanceof TimeoutException;
      if (timedOut) {
        traced.timedOut();
      } else {
        traced.failed(cause);
      }
      if (response.closed()) {
        end();
      } else if (timedOut) {
        end();
        Refusal.TIMEOUT.answer(response);
      } else if (mayRetry()) {
        next();
      } else {
        end();
        Refusal.BROKEN.answer(response);
      }
    }

    private boolean mayRetry() {
      return number + 1 < targets.size() && number < parts.config().retries();
    }

    private void next() {
      if (!ended) {
        end();
        attempt(number + 1);
      }
    }

    private void end() {
      if (!ended) {
        ended = true;
        call = null;
        parts.fleet().end(endpoint);
        parts.fleet().end(prefiller);
      }
    }
  }

  /** Returns whether the request should be retried on another engine after this status. */
  private static boolean isUnavailable(int status) {
    return status == 502 || status == 503 || status == 504;
  }
}
