package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TraceId;
import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.trace.RecordedStacks;
import io.inferspan.samples.desk.web.PageFiles.PageFile;
import io.inferspan.samples.desk.web.Parameters.WrongParameterException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import org.jspecify.annotations.Nullable;

/** Serves the page, its API and the live feed. */
public final class WebServer {

  /** Leaves the CPU to other programs that start at the same time. */
  private static final long WARM_UP_AFTER_MILLIS = 5_000;

  private static final int IDLE_SECONDS = 60;
  private static final int SEND_BUFFER_BYTES = 64 * 1024;
  private static final String TRACES = "/api/traces/";
  private static final String JSON = "application/json; charset=utf-8";
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
          + " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** The policy for uploaded pages: their scripts run in a separate origin. */
  private static final String POLICY_OF_TIMELINES =
      "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline';"
          + " style-src 'unsafe-inline'; frame-ancestors 'none'";

  private static final String TIMELINES = "/timelines/";

  private final Vertx vertx;
  private final Timelines timelines;
  private final Api api;
  private final LiveFeed live;
  private final PageFiles files = new PageFiles();

  /** Creates a server for the traces in a store and their recorded stacks. */
  public WebServer(Vertx vertx, SpanStore store, RecordedStacks stacks, Drops drops) {
    this.vertx = vertx;
    this.timelines = new Timelines(drops);
    this.api = new Api(store, stacks, timelines, drops);
    this.live = new LiveFeed(vertx, store, api);
  }

  /** Listens. */
  public Future<HttpServer> listen(String host, int port) {
    HostGuard guard = new HostGuard(host);
    return vertx
        .createHttpServer(
            new HttpServerOptions()
                .setIdleTimeout(IDLE_SECONDS)
                .setCompressionSupported(true)
                // A page that does not read must not fill large kernel buffers.
                .setSendBufferSize(SEND_BUFFER_BYTES))
        .requestHandler(request -> handle(request, guard))
        .exceptionHandler(broken -> {})
        .listen(port, host)
        .onSuccess(
            listening -> {
              live.start();
              vertx.setTimer(WARM_UP_AFTER_MILLIS, due -> warmUp());
            });
  }

  private void warmUp() {
    vertx.<Void>executeBlocking(
        () -> {
          WarmUp.run();
          return null;
        },
        false);
  }

  private void handle(HttpServerRequest request, HostGuard guard) {
    HttpServerResponse response = request.response();
    String asked = request.path();
    String path = asked == null ? "" : asked;
    response
        .putHeader("content-security-policy", POLICY)
        .putHeader("x-content-type-options", "nosniff")
        .putHeader("referrer-policy", "no-referrer")
        .putHeader("cross-origin-resource-policy", "same-origin");
    if (!guard.admits(request.authority())) {
      fail(response, 403, "The desk serves this machine only: open it as localhost or 127.0.0.1.");
    } else if (path.startsWith(TIMELINES)) {
      timeline(TraceId.parse(path.substring(TIMELINES.length())), request, response);
    } else if (!HttpMethod.GET.equals(request.method())) {
      fail(response.putHeader("allow", "GET"), 405, "Only GET is served.");
    } else if (path.startsWith("/api/")) {
      api(path, request, response.putHeader("cache-control", "no-store"));
    } else {
      file(path, request, response);
    }
  }

  private void timeline(
      @Nullable TraceId trace, HttpServerRequest request, HttpServerResponse response) {
    if (HttpMethod.PUT.equals(request.method())) {
      put(trace, request, response);
      return;
    }
    Buffer page = trace == null ? null : timelines.get(trace);
    if (!HttpMethod.GET.equals(request.method())) {
      fail(response.putHeader("allow", "GET, PUT"), 405, "Timelines are for GET and PUT.");
    } else if (page == null) {
      fail(response, 404, "There is no such timeline, or no more.");
    } else {
      response
          .putHeader("content-security-policy", POLICY_OF_TIMELINES)
          .putHeader("cache-control", "no-cache")
          .putHeader("content-type", "text/html; charset=utf-8")
          .putHeader("content-encoding", "gzip")
          .end(page);
    }
  }

  private void put(
      @Nullable TraceId trace, HttpServerRequest request, HttpServerResponse response) {
    String length = request.getHeader("content-length");
    if (trace == null) {
      fail(response, 404, "A timeline belongs to a trace, of 32 hexadecimal digits.");
    } else if (!"gzip".equals(request.getHeader("content-encoding"))) {
      fail(response, 415, "A timeline is sent with gzip.");
    } else if (length == null || !isAtMost(length, Timelines.MOST_PAGE_BYTES)) {
      fail(response, 413, "A timeline is sent with its length, of at most 4 MiB.");
    } else {
      request
          .body()
          .onSuccess(
              page -> {
                timelines.put(trace, page);
                response.setStatusCode(204).end();
              });
    }
  }

  private static boolean isAtMost(String number, int most) {
    return number.matches("[0-9]{1,9}") && Integer.parseInt(number) <= most;
  }

  private void file(String path, HttpServerRequest request, HttpServerResponse response) {
    PageFile file = files.at(path);
    if (file == null) {
      fail(response, 404, "There is no such page.");
      return;
    }
    response.putHeader("cache-control", "no-cache").putHeader("etag", file.tag());
    if (file.tag().equals(request.getHeader("if-none-match"))) {
      response.setStatusCode(304).end();
    } else {
      response.putHeader("content-type", file.type()).end(file.content());
    }
  }

  /** Produces a response outside of the event loop; null for not found. */
  private interface Question {
    @Nullable Buffer answer() throws WrongParameterException;
  }

  private void api(String path, HttpServerRequest request, HttpServerResponse response) {
    if (path.equals("/api/live")) {
      if (!live.add(response)) {
        fail(response, 503, "Too many pages are open.");
      }
    } else if (path.equals("/api/requests")) {
      answer(response, () -> api.requests(parameters(request)));
    } else if (path.equals("/api/history")) {
      answer(response, () -> api.history(parameters(request)));
    } else if (path.equals("/api/latency")) {
      answer(response, () -> api.latency(parameters(request)));
    } else if (path.equals("/api/explain")) {
      answer(response, TEXT, () -> api.explain(parameters(request)));
    } else if (path.equals("/api/stats")) {
      answer(response, api::stats);
    } else if (path.startsWith(TRACES)) {
      answer(response, () -> api.trace(path.substring(TRACES.length())));
    } else {
      fail(response, 404, "There is no such question.");
    }
  }

  private static Parameters parameters(HttpServerRequest request) throws WrongParameterException {
    try {
      return new Parameters(request.params());
    } catch (IllegalArgumentException e) {
      throw new WrongParameterException("The query cannot be read.");
    }
  }

  private void answer(HttpServerResponse response, Question question) {
    answer(response, JSON, question);
  }

  private void answer(HttpServerResponse response, String type, Question question) {
    vertx
        .executeBlocking(question::answer, false)
        .onComplete(
            made -> {
              if (response.closed()) {
                return;
              }
              if (made.cause() instanceof WrongParameterException wrong) {
                fail(response, 400, String.valueOf(wrong.getMessage()));
              } else if (made.failed()) {
                fail(response, 500, "The desk failed: " + made.cause().getClass().getSimpleName());
              } else if (made.result() == null) {
                fail(response, 404, "There is no such trace, or no more.");
              } else {
                response.putHeader("content-type", type).end(made.result());
              }
            });
  }

  private static void fail(HttpServerResponse response, int status, String sentence) {
    response.setStatusCode(status).putHeader("content-type", JSON).end(Api.error(sentence));
  }
}
