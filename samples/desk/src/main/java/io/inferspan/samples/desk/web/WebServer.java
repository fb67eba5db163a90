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

  /** Delays the warm-up, which would take CPU time from programs that start at the same time. */
  private static final long WARM_UP_AFTER_MILLIS = 5_000;

  private static final int IDLE_SECONDS = 60;
  private static final int SEND_BUFFER_BYTES = 64 * 1024;
  private static final String TRACES = "/api/traces/";
  private static final String JSON = "application/json; charset=utf-8";
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
          + " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** The content security policy for uploaded pages: their scripts run in a separate origin. */
  private static final String TIMELINE_POLICY =
      "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline';"
          + " style-src 'unsafe-inline'; frame-ancestors 'none'";

  private static final String TIMELINES = "/timelines/";

  private final Vertx vertx;
  private final Timelines timelines;
  private final Api api;
  private final LiveFeed live;
  private final PageFiles files = new PageFiles();

  /** Creates a server that shows the traces in a store and their recorded stacks. */
  public WebServer(Vertx vertx, SpanStore store, RecordedStacks stacks, Drops drops) {
    this.vertx = vertx;
    this.timelines = new Timelines(drops);
    this.api = new Api(store, stacks, timelines, drops);
    this.live = new LiveFeed(vertx, store, api);
  }

  /** Starts listening and, after a few seconds, warms up the search. */
  public Future<HttpServer> listen(String host, int port) {
    HostGuard guard = new HostGuard(host);
    return vertx
        .createHttpServer(
            new HttpServerOptions()
                .setIdleTimeout(IDLE_SECONDS)
                .setCompressionSupported(true)
                // Limits the data that the kernel buffers for a page that stops reading.
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
      fail(
          response,
          403,
          "The desk listens on loopback, so the host in the URL must be localhost, a name that ends"
              + " in .localhost, or a loopback address.");
    } else if (path.startsWith(TIMELINES)) {
      timeline(TraceId.parse(path.substring(TIMELINES.length())), request, response);
    } else if (!HttpMethod.GET.equals(request.method())) {
      fail(response.putHeader("allow", "GET"), 405, "The method must be GET.");
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
      fail(response.putHeader("allow", "GET, PUT"), 405, "The method must be GET or PUT.");
    } else if (page == null) {
      fail(response, 404, "The timeline does not exist, or was dropped.");
    } else {
      response
          .putHeader("content-security-policy", TIMELINE_POLICY)
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
      fail(response, 404, "The path must be /timelines/ and a trace id of 32 hexadecimal digits.");
    } else if (!"gzip".equals(request.getHeader("content-encoding"))) {
      fail(response, 415, "A timeline must have the content-encoding gzip.");
    } else if (length == null || !isAtMost(length, Timelines.MAX_PAGE_BYTES)) {
      fail(response, 413, "A timeline must have a content-length of at most 4 MiB.");
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
      fail(response, 404, "The page does not exist.");
      return;
    }
    response.putHeader("cache-control", "no-cache").putHeader("etag", file.tag());
    if (file.tag().equals(request.getHeader("if-none-match"))) {
      response.setStatusCode(304).end();
    } else {
      response.putHeader("content-type", file.type()).end(file.content());
    }
  }

  /** An API call, made on a worker thread; returns null for "not found". */
  private interface ApiCall {
    @Nullable Buffer answer() throws WrongParameterException;
  }

  private void api(String path, HttpServerRequest request, HttpServerResponse response) {
    if (path.equals("/api/live")) {
      if (!live.add(response)) {
        fail(
            response,
            503,
            "Too many pages are open; close one. The live feed serves " + LiveFeed.MAX_PAGES + ".");
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
      fail(response, 404, "The API has no such path.");
    }
  }

  private static Parameters parameters(HttpServerRequest request) throws WrongParameterException {
    try {
      return new Parameters(request.params());
    } catch (IllegalArgumentException e) {
      throw new WrongParameterException("The query string cannot be parsed.");
    }
  }

  private void answer(HttpServerResponse response, ApiCall call) {
    answer(response, JSON, call);
  }

  private void answer(HttpServerResponse response, String type, ApiCall call) {
    vertx
        .executeBlocking(call::answer, false)
        .onComplete(
            result -> {
              if (response.closed()) {
                return;
              }
              if (result.cause() instanceof WrongParameterException wrong) {
                fail(response, 400, String.valueOf(wrong.getMessage()));
              } else if (result.failed()) {
                fail(
                    response,
                    500,
                    "The desk has a bug ("
                        + result.cause().getClass().getSimpleName()
                        + "); please report it with this request's URL.");
              } else if (result.result() == null) {
                fail(response, 404, "The trace does not exist, or was dropped.");
              } else {
                response.putHeader("content-type", type).end(result.result());
              }
            });
  }

  private static void fail(HttpServerResponse response, int status, String sentence) {
    response.setStatusCode(status).putHeader("content-type", JSON).end(Api.error(sentence));
  }
}
