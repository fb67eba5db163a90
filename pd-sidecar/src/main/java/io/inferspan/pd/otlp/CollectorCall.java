package io.inferspan.pd.otlp;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One export: a call to the collector and, where it fails in passing, the same call again.
 *
 * <p>Everything happens on one event loop, so nothing is locked; only the outcome leaves it.
 */
final class CollectorCall {

  private static final long HTTP2_CANCEL = 0x8;

  /**
   * What is the same in every call of a sender.
   *
   * @param client what makes the calls
   * @param loop the event loop that they happen on
   * @param settings how they are made
   * @param retries when they are made again
   */
  record Means(HttpClient client, Context loop, CollectorSettings settings, Retries retries) {}

  private final Means means;
  private final RequestOptions options;
  private final Buffer body;
  private final Promise<CollectorReply> outcome = Promise.promise();
  private final long startNanos = System.nanoTime();
  private final long timeoutNanos;
  private @Nullable HttpClientRequest underWay;
  private int attempts;
  private long deadlineTimer = -1;
  private long retryTimer = -1;

  CollectorCall(Means means, RequestOptions options, Buffer body) {
    this.means = means;
    this.options = options;
    this.body = body;
    this.timeoutNanos = means.settings().limits().timeout().toNanos();
  }

  /** What comes of it. */
  Promise<CollectorReply> outcome() {
    return outcome;
  }

  /** Where it happens. */
  Context loop() {
    return means.loop();
  }

  /** Makes the first call; on the event loop. */
  void start() {
    if (timeoutNanos > 0) {
      deadlineTimer = timer(timeoutNanos, this::timeOut);
    }
    attempt();
  }

  private void attempt() {
    attempts++;
    means
        .client()
        .request(options)
        .onComplete(
            connected -> {
              if (connected.succeeded()) {
                send(connected.result());
              } else {
                failed(connected.cause());
              }
            });
  }

  private void send(HttpClientRequest request) {
    if (over()) {
      request.reset(HTTP2_CANCEL);
      return;
    }
    underWay = request;
    request
        .response()
        .onComplete(
            came -> {
              if (came.succeeded()) {
                read(request, came.result());
              } else {
                failed(request, came.cause());
              }
            });
    // What goes wrong with sending also fails the response.
    var _ = request.send(body.slice());
  }

  private void read(HttpClientRequest request, HttpClientResponse response) {
    Buffer received = Buffer.buffer();
    long most = means.settings().limits().responseBytes();
    response.exceptionHandler(cause -> failed(request, cause));
    response.handler(
        bytes -> {
          if (received.length() + bytes.length() > most) {
            answered(request, reply(response, received, true));
            request.reset(HTTP2_CANCEL);
          } else {
            received.appendBuffer(bytes);
          }
        });
    response.endHandler(_ -> answered(request, reply(response, received, false)));
  }

  private static CollectorReply reply(HttpClientResponse response, Buffer body, boolean truncated) {
    MultiMap trailers = truncated ? MultiMap.caseInsensitiveMultiMap() : response.trailers();
    return new CollectorReply(
        response.statusCode(),
        response.statusMessage(),
        response.headers(),
        trailers,
        body,
        truncated);
  }

  private void answered(HttpClientRequest request, CollectorReply reply) {
    if (settles(request) && !tryAgain(means.retries().delayNanos(attempts, reply))) {
      end();
      outcome.tryComplete(reply);
    }
  }

  private void failed(HttpClientRequest request, Throwable cause) {
    if (settles(request)) {
      failed(cause);
    }
  }

  /** Only the first news of the request under way counts. */
  private boolean settles(HttpClientRequest request) {
    if (!request.equals(underWay)) {
      return false;
    }
    underWay = null;
    return !over();
  }

  private void failed(Throwable cause) {
    IOException failure = Retries.inJavaTerms(cause);
    if (!over() && !tryAgain(means.retries().delayNanos(attempts, failure))) {
      cancel(failure);
    }
  }

  /** Whether there will be another call; not where it could only come too late. */
  private boolean tryAgain(long delayNanos) {
    if (delayNanos == Retries.NEVER) {
      return false;
    }
    if (timeoutNanos > 0 && System.nanoTime() - startNanos + delayNanos >= timeoutNanos) {
      return false;
    }
    retryTimer = timer(delayNanos, this::attempt);
    return true;
  }

  private void timeOut() {
    cancel(
        new SocketTimeoutException(
            "The collector did not answer within "
                + means.settings().limits().timeout().toMillis()
                + " ms"));
  }

  /** Gives up; on the event loop. */
  void cancel(IOException reason) {
    if (over()) {
      return;
    }
    end();
    outcome.tryFail(reason);
    HttpClientRequest request = underWay;
    underWay = null;
    if (request != null) {
      request.reset(HTTP2_CANCEL);
    }
  }

  private boolean over() {
    return outcome.future().isComplete();
  }

  private void end() {
    means.loop().owner().cancelTimer(deadlineTimer);
    means.loop().owner().cancelTimer(retryTimer);
  }

  private long timer(long delayNanos, Runnable action) {
    long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(delayNanos));
    return means.loop().owner().setTimer(millis, _ -> action.run());
  }
}
