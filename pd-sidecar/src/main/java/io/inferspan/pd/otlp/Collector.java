package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The way to a collector: connections to it, the calls under way, and an end to both. */
final class Collector {

  private final CollectorSettings settings;
  private final HttpClientOptions clientOptions;
  private final Retries retries;
  private final Set<CollectorCall> calls = ConcurrentHashMap.newKeySet();
  private @Nullable Vertx own;
  private CollectorCall.@Nullable Means means;
  private boolean closed;

  /**
   * A way that is not yet gone.
   *
   * @param settings where it leads
   * @param passing whether an answer may be another one a little later
   */
  Collector(CollectorSettings settings, Predicate<CollectorReply> passing) {
    this.settings = settings;
    this.clientOptions = settings.clientOptions();
    this.retries = new Retries(settings.retryPolicy(), passing);
  }

  /** The request line and the caller's headers, to which a protocol adds its own. */
  RequestOptions request(@Nullable Map<String, List<String>> headers) {
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setHost(settings.host())
            .setPort(settings.port())
            .setSsl(settings.secure())
            .setURI(settings.pathAndQuery());
    if (headers != null) {
      headers.forEach((name, values) -> values.forEach(value -> options.addHeader(name, value)));
    }
    return options;
  }

  /** Sends it; exactly one of the two hears what came of it, on a thread that may block. */
  void call(
      RequestOptions options,
      Buffer body,
      Consumer<CollectorReply> onReply,
      Consumer<Throwable> onError) {
    CollectorCall call = begin(options, body);
    if (call == null) {
      onError.accept(new IOException("The sender is shut down"));
      return;
    }
    call.outcome()
        .future()
        .onComplete(
            outcome -> {
              calls.remove(call);
              callBack(() -> tell(outcome, onReply, onError));
            });
    try {
      call.loop().runOnContext(_ -> call.start());
    } catch (RuntimeException e) {
      // The Vert.x that we were lent is gone.
      call.cancel(new IOException("There is no thread left to send on", e));
    }
  }

  private synchronized @Nullable CollectorCall begin(RequestOptions options, Buffer body) {
    if (closed) {
      return null;
    }
    CollectorCall call = new CollectorCall(means(), options, body);
    calls.add(call);
    return call;
  }

  private static void tell(
      AsyncResult<CollectorReply> outcome,
      Consumer<CollectorReply> onReply,
      Consumer<Throwable> onError) {
    if (outcome.succeeded()) {
      onReply.accept(outcome.result());
    } else {
      onError.accept(outcome.cause());
    }
  }

  /** Exporters log, and a log may block: not on an event loop that carries requests. */
  private void callBack(Runnable task) {
    ExecutorService executor = settings.callbacks();
    if (executor != null) {
      try {
        executor.execute(task);
        return;
      } catch (RejectedExecutionException e) {
        // Shut down before us; the exporter must hear of it all the same.
      }
    }
    Thread.ofVirtual().name("otlp-callback").start(task);
  }

  private CollectorCall.Means means() {
    if (means == null) {
      Vertx vertx = OtlpTransport.shared();
      if (vertx == null) {
        vertx = own = OtlpTransport.own();
      }
      means =
          new CollectorCall.Means(
              vertx.createHttpClient(clientOptions, new PoolOptions()),
              vertx.getOrCreateContext(),
              settings,
              retries);
    }
    return means;
  }

  /** Gives up what is under way and closes what was opened; a second time does nothing. */
  CompletableResultCode shutdown() {
    CollectorCall.Means opened;
    synchronized (this) {
      if (closed || means == null) {
        closed = true;
        return CompletableResultCode.ofSuccess();
      }
      closed = true;
      opened = means;
    }
    CompletableResultCode result = new CompletableResultCode();
    try {
      opened.loop().runOnContext(_ -> close(opened, result));
    } catch (RuntimeException e) {
      // The Vert.x that we were lent is gone, and with it all connections.
      giveUpCalls();
      result.succeed();
    }
    return result;
  }

  private void close(CollectorCall.Means opened, CompletableResultCode result) {
    giveUpCalls();
    Future<Void> closing = opened.client().close();
    Vertx vertx = own;
    closing
        .transform(_ -> vertx == null ? Future.succeededFuture() : vertx.close())
        .onComplete(_ -> result.succeed());
  }

  private void giveUpCalls() {
    calls.forEach(call -> call.cancel(new IOException("The sender was shut down")));
  }
}
