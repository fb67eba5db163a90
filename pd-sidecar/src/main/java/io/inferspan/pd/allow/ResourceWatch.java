package io.inferspan.pd.allow;

import io.vertx.core.Promise;
import io.vertx.core.http.HttpClientResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows a collection of objects: lists it, then watches it from the list's version on.
 *
 * <p>A watch that ends normally is continued. After any other end, including "410 Gone", the
 * collection is listed again after a growing pause. Everything runs on the Vert.x context on which
 * {@link #start} is called; call {@link #close} there, too.
 */
final class ResourceWatch implements AutoCloseable {
  /** The server ends a watch after this long, so that a dead connection is soon found out. */
  static final int WATCH_SECONDS = 30;

  /** A watch that ends sooner counts as failed. */
  private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int OK = 200;
  private static final int GONE = 410;

  private final ApiClient api;
  private final String collection;
  private final Listener listener;
  private final Backoff backoff = new Backoff();

  private boolean closed;
  private boolean failing;
  private boolean relist;
  private @Nullable HttpClientResponse answer;
  private String version = "";
  private long watchedSinceNanos;

  /** Receives changes. */
  interface Listener {

    /** Called with the complete collection. */
    void replaced(List<ObjectState> objects);

    void present(ObjectState object);

    void gone(String name);

    /** Called once per outage, which {@link #replaced} ends. */
    void lost(String why);
  }

  /**
   * Creates a watch, which does not start yet.
   *
   * @param collection the path, and a query with at least one parameter
   */
  ResourceWatch(ApiClient api, String collection, Listener listener) {
    this.api = api;
    this.collection = collection;
    this.listener = listener;
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
    List<ObjectState> listed = new ArrayList<>();
    ask(
        collection,
        event -> {
          switch (event) {
            case ObjectEvent.Present(ObjectState object) -> listed.add(object);
            case ObjectEvent.UpTo(String upTo) -> version = upTo;
            case ObjectEvent.Gone _, ObjectEvent.Failed _ -> {}
          }
        },
        () -> listed(listed));
  }

  private void listed(List<ObjectState> objects) {
    if (version.isEmpty()) {
      failed("an answer that is no complete list");
      return;
    }
    failing = false;
    listener.replaced(objects);
    watch();
  }

  private void watch() {
    watchedSinceNanos = System.nanoTime();
    String terms = "&watch=true&allowWatchBookmarks=true&timeoutSeconds=" + WATCH_SECONDS;
    ask(collection + terms + "&resourceVersion=" + version, this::watched, this::watchEnded);
  }

  private void watched(ObjectEvent event) {
    switch (event) {
      case ObjectEvent.Present(ObjectState object) -> listener.present(object);
      case ObjectEvent.Gone(String name) -> listener.gone(name);
      case ObjectEvent.UpTo(String upTo) -> {
        version = upTo;
        backoff.reset();
      }
      case ObjectEvent.Failed(int _) -> relist = true;
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
      listener.lost(why);
    }
    pause(this::list);
  }

  private void ask(String uri, Consumer<ObjectEvent> events, Runnable end) {
    api.get(uri)
        .onSuccess(response -> answered(response, events, end))
        .onFailure(e -> unlessClosed(() -> failed(reason(e))));
  }

  private void answered(HttpClientResponse response, Consumer<ObjectEvent> events, Runnable end) {
    response.exceptionHandler(_ -> {}); // the exception of the reset, which Vert.x would log
    if (closed) {
      drop(response);
    } else if (response.statusCode() == OK) {
      read(response, events, end);
    } else {
      drop(response);
      refused(response.statusCode());
    }
  }

  private void refused(int status) {
    if (status == GONE) {
      pause(this::list);
    } else if (status == 401 || status == 403) {
      failed("HTTP " + status + "; its service account needs get, list and watch here");
    } else {
      failed("HTTP " + status);
    }
  }

  private void read(HttpClientResponse response, Consumer<ObjectEvent> events, Runnable end) {
    answer = response;
    Promise<String> failure = Promise.promise();
    failure.future().onSuccess(why -> unlessClosed(why.isEmpty() ? end : () -> failed(why)));
    response
        .end()
        .onSuccess(_ -> failure.tryComplete(""))
        .onFailure(e -> failure.tryComplete(reason(e)));
    ObjectReader reader = new ObjectReader(events);
    response.handler(
        bytes -> {
          try {
            if (!closed && !failure.future().isComplete()) {
              reader.read(bytes.getBytes());
              return;
            }
          } catch (IOException _) {
            failure.tryComplete("broken JSON");
          }
          drop(response);
        });
  }

  private static void drop(HttpClientResponse response) {
    response.request().reset().onFailure(_ -> {}); // it has already ended
  }

  /** Does not include the message, which could contain text from a server. */
  private static String reason(Throwable e) {
    return e.getClass().getSimpleName();
  }
}
