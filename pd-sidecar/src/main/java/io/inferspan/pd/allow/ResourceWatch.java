package io.inferspan.pd.allow;

import io.inferspan.pd.allow.ObjectReader.ObjectEvent;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.json.DecodeException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows a collection of Kubernetes objects: lists it, then watches it from the listed version on.
 *
 * <p>A watch that ends normally is continued. After any other end, including "410 Gone", the
 * collection is listed again. After a failed request, or a watch that ended within a second, there
 * is a pause first, which grows with each such failure. Everything runs on the Vert.x context on
 * which {@link #start} is called. Call {@link #close} on the same context.
 */
final class ResourceWatch implements AutoCloseable {
  /**
   * The time after which the server ends a watch. A connection without data for much longer is
   * dead.
   */
  static final int WATCH_SECONDS = 30;

  /** A watch that ends sooner counts as failed. */
  private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int OK = 200;
  private static final int GONE = 410;

  /** Pauses between successive failed attempts: growing, with jitter. */
  static final class Backoff {
    static final long FIRST_MILLIS = 250;
    static final long LONGEST_MILLIS = 30_000;

    private int failures;

    /**
     * Returns the next pause. Half of it is random, so that not all pods retry at the same time.
     */
    long nextMillis() {
      long whole = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures, 10));
      failures++;
      return whole / 2 + ThreadLocalRandom.current().nextLong(whole / 2 + 1);
    }

    void reset() {
      failures = 0;
    }
  }

  private final ApiClient api;
  private final String collection;
  private final Consumer<Map<String, ObjectState>> changed;
  private final Consumer<String> lost;
  private final Backoff backoff = new Backoff();

  private boolean closed;
  private boolean failing;
  private boolean relist;
  private @Nullable HttpClientResponse answer;
  private Map<String, ObjectState> objects = new HashMap<>();
  private String version = "";
  private long watchedSinceNanos;

  /**
   * Creates a watch, which does not start yet.
   *
   * @param collection the path, and a query with at least one parameter
   * @param changed called with the collection when it has been listed, and after each change
   * @param lost called with the reason when an outage begins; a new list ends it
   */
  ResourceWatch(
      ApiClient api,
      String collection,
      Consumer<Map<String, ObjectState>> changed,
      Consumer<String> lost) {
    this.api = api;
    this.collection = collection;
    this.changed = changed;
    this.lost = lost;
  }

  void start() {
    list();
  }

  @Override
  public void close() {
    closed = true;
    if (answer != null) {
      drop(answer);
    }
  }

  private void list() {
    version = "";
    relist = false;
    Map<String, ObjectState> listed = new HashMap<>();
    ask(collection, ObjectReader.ofList(event -> take(event, listed)), () -> listed(listed));
  }

  private void listed(Map<String, ObjectState> listed) {
    if (version.isEmpty()) {
      failed("the list is incomplete");
      return;
    }
    failing = false;
    objects = listed;
    changed.accept(objects);
    watch();
  }

  private void watch() {
    watchedSinceNanos = System.nanoTime();
    String terms = "&watch=true&allowWatchBookmarks=true&timeoutSeconds=" + WATCH_SECONDS;
    String uri = collection + terms + "&resourceVersion=" + version;
    ask(uri, ObjectReader.ofWatch(this::watched), this::watchEnded);
  }

  private void watched(ObjectEvent event) {
    take(event, objects);
    switch (event) {
      case ObjectEvent.Present _, ObjectEvent.Gone _ -> changed.accept(objects);
      case ObjectEvent.UpTo _ -> backoff.reset();
      case ObjectEvent.Failed _ -> relist = true;
    }
  }

  private void take(ObjectEvent event, Map<String, ObjectState> collected) {
    switch (event) {
      case ObjectEvent.Present(ObjectState object) -> collected.put(object.name(), object);
      case ObjectEvent.Gone(String name) -> collected.remove(name);
      case ObjectEvent.UpTo(String upTo) -> version = upTo;
      case ObjectEvent.Failed _ -> {}
    }
  }

  private void watchEnded() {
    if (System.nanoTime() - watchedSinceNanos >= SHORT_NANOS) {
      backoff.reset();
      proceed();
    } else {
      pause(this::proceed);
    }
  }

  private void proceed() {
    if (relist) {
      list();
    } else {
      watch();
    }
  }

  /** Runs a callback unless the watch is closed. */
  private void unlessClosed(Runnable step) {
    if (!closed) {
      step.run();
    }
  }

  private void pause(Runnable next) {
    api.vertx().setTimer(backoff.nextMillis(), _ -> unlessClosed(next));
  }

  private void failed(String why) {
    if (!failing) {
      failing = true;
      lost.accept(why);
    }
    pause(this::list);
  }

  private void ask(String uri, ObjectReader reader, Runnable end) {
    api.get(uri)
        .onSuccess(response -> answered(response, reader, end))
        .onFailure(e -> unlessClosed(() -> failed(reason(e))));
  }

  private void answered(HttpClientResponse response, ObjectReader reader, Runnable end) {
    response.exceptionHandler(_ -> {}); // otherwise, Vert.x would log the exception of a reset
    if (closed) {
      drop(response);
    } else if (response.statusCode() == OK) {
      read(response, reader, end);
    } else {
      drop(response);
      refused(response.statusCode());
    }
  }

  private void refused(int status) {
    if (status == GONE) {
      pause(this::list);
    } else if (status == 401 || status == 403) {
      failed("HTTP " + status + "; the service account needs the verbs get, list and watch");
    } else {
      failed("HTTP " + status);
    }
  }

  private void read(HttpClientResponse response, ObjectReader reader, Runnable end) {
    answer = response;
    Promise<Void> done = Promise.promise();
    done.future()
        .onSuccess(_ -> unlessClosed(end))
        .onFailure(e -> unlessClosed(() -> failed(reason(e))));
    response.end().onSuccess(done::tryComplete).onFailure(done::tryFail);
    response.handler(
        bytes -> {
          try {
            if (!closed && !done.future().isComplete()) {
              reader.read(bytes);
              return;
            }
          } catch (DecodeException e) {
            done.tryFail(e);
          }
          drop(response);
        });
  }

  private static void drop(HttpClientResponse response) {
    response.request().reset().onFailure(_ -> {}); // the response has already ended
  }

  /** Returns the reason without the exception's message, which may contain text from a server. */
  private static String reason(Throwable e) {
    return e instanceof DecodeException ? "invalid JSON" : e.getClass().getSimpleName();
  }
}
