package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.store.SpanStore;
import io.inferspan.samples.desk.store.Summary;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Sends changes to open pages as server-sent events.
 *
 * <p>The only state per page is the {@code seq} of the last change sent to it. A slow page gets
 * fewer updates, and only the latest changes. The feed runs on one event loop; worker threads
 * summarise traces.
 */
final class LiveFeed {

  static final int MAX_PAGES = 64;

  private static final long TICK_MILLIS = 100;
  private static final long SUMMARISE_LIMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
  private static final int TICKS_PER_STATS = 10;
  private static final int TICKS_PER_KEEP_ALIVE = 150;
  private static final int MAX_BATCH = 200;
  private static final int MAX_WAITING_BYTES = 256 * 1024;

  private final Vertx vertx;
  private final SpanStore store;
  private final Api api;
  private final Set<Page> pages = new LinkedHashSet<>();
  private boolean ticking;
  private long ticks;

  LiveFeed(Vertx vertx, SpanStore store, Api api) {
    this.vertx = vertx;
    this.store = store;
    this.api = api;
  }

  /** An open page. */
  private static final class Page {
    private final HttpServerResponse response;
    private long sentSeq;

    Page(HttpServerResponse response, long sentSeq) {
      this.response = response;
      this.sentSeq = sentSeq;
    }
  }

  /** Starts the timer that sends changes. */
  void start() {
    vertx.setPeriodic(TICK_MILLIS, tick -> tick());
  }

  /** Adds a page; returns false if too many are open. */
  boolean add(HttpServerResponse response) {
    if (pages.size() >= MAX_PAGES) {
      return false;
    }
    Page page = new Page(response, store.list().lastSeq());
    pages.add(page);
    response.closeHandler(closed -> pages.remove(page));
    response.exceptionHandler(broken -> pages.remove(page));
    response
        .setChunked(true)
        .setWriteQueueMaxSize(MAX_WAITING_BYTES)
        .putHeader("content-type", "text/event-stream; charset=utf-8");
    response.write(": hello\n\n");
    write(page, "stats", api.stats());
    return true;
  }

  /**
   * Summarises traces and sends changes. Also runs without open pages, because broken traces are
   * detected by timeout.
   */
  private void tick() {
    if (ticking) {
      return;
    }
    ticking = true;
    try {
      summariseOnWorker();
    } catch (RejectedExecutionException e) {
      // The desk is closing.
      pages.clear();
    }
  }

  private void summariseOnWorker() {
    vertx
        .<Void>executeBlocking(
            () -> {
              store.summarise(SUMMARISE_LIMIT_NANOS);
              return null;
            })
        .onComplete(
            done -> {
              ticking = false;
              publish();
            });
  }

  private void publish() {
    ticks++;
    Map<Long, Buffer> written = new HashMap<>();
    long last = store.list().lastSeq();
    for (Page page : pages) {
      if (page.response.writeQueueFull()) {
        continue;
      }
      if (page.sentSeq < last) {
        Buffer batch =
            written.computeIfAbsent(
                page.sentSeq, seq -> batch(store.list().changedSince(seq, MAX_BATCH)));
        page.sentSeq = last;
        write(page, "requests", batch);
      }
      if (ticks % TICKS_PER_STATS == 0) {
        write(page, "stats", api.stats());
      }
      if (ticks % TICKS_PER_KEEP_ALIVE == 0) {
        page.response.write(": keep-alive\n\n");
      }
    }
  }

  private static Buffer batch(List<Summary> changed) {
    return Json.list(changed, SummaryJson::write);
  }

  private static void write(Page page, String event, Buffer data) {
    page.response.write(
        Buffer.buffer(data.length() + 32)
            .appendString("event: " + event + "\ndata: ")
            .appendBuffer(data)
            .appendString("\n\n"));
  }
}
