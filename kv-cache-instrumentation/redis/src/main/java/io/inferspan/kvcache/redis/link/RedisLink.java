package io.inferspan.kvcache.redis.link;

import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One connection to Redis on one event loop, re-established whenever it is lost.
 *
 * <p>If an answer takes too long, the link discards the connection together with its client, since
 * nothing less closes a stuck socket. Except for {@link #post}, call its methods on the event loop.
 */
public final class RedisLink {

  private static final String TOO_MANY = "too many commands wait for Redis";
  private static final String LOOPS_GONE = "the event loops of the index have ended";
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final int MOST_DOUBLINGS = 6;
  private static final String CLOSED = "the index is closed";

  private final Vertx vertx;
  private final Context loop;
  private final RedisClients clients;
  private final Watchers watchers;
  private final Patience patience;
  private final AtomicInteger pending = new AtomicInteger();

  /** Operations that wait for a connection, in order; those that end meanwhile leave. */
  private final Set<Operation<?>> waiting = new LinkedHashSet<>();

  private final Set<Sent> unanswered = new LinkedHashSet<>();
  // Read by other threads as a hint; written on the loop.
  private volatile State state = State.RESTING;
  private @Nullable Redis client;
  private @Nullable RedisPipeline pipeline;
  private Future<?> attempt = Future.succeededFuture();
  private String downReason = "not connected to Redis yet";
  private int generation;
  private int attempts;
  private int inFlight;
  private boolean watching;

  private enum State {
    CONNECTING,
    UP,
    RESTING,
    CLOSED
  }

  /** Receives connection events. */
  public record Watchers(RedisIndexCounters counters, Outage outage) {}

  /**
   * The time to wait.
   *
   * @param waits whether operations wait for a connection, rather than fail while there is none
   * @param answerMillis the time after which a connection that does not answer is discarded
   */
  public record Patience(boolean waits, long answerMillis) {}

  private record Sent(Promise<List<Response>> answer, int commands, int generation, long nanos) {}

  /** Creates a link that is down until {@link #connect}. */
  public RedisLink(Context loop, RedisClients clients, Watchers watchers, Patience patience) {
    this.vertx = loop.owner();
    this.loop = loop;
    this.clients = clients;
    this.watchers = watchers;
    this.patience = patience;
  }

  /**
   * Runs a task on the event loop later, unless too many commands are pending or the loop has
   * ended. Callable from any thread.
   *
   * @param commands the number that it counts for, until {@link #done}
   * @return the reason why it does not run; null if it does
   */
  public @Nullable RedisFailure post(int commands, Runnable task) {
    if (pending.addAndGet(commands) > clients.maxPendingCommands()) {
      pending.addAndGet(-commands);
      watchers.counters.refused.increment();
      return new RedisFailure(TOO_MANY);
    }
    if (!post(task)) {
      pending.addAndGet(-commands);
      return new RedisFailure(LOOPS_GONE);
    }
    return null;
  }

  /** Notes that a task has ended. */
  public void done(int commands) {
    pending.addAndGet(-commands);
  }

  /** Returns how many commands are pending. Callable from any thread. */
  public int pending() {
    return pending.get();
  }

  /** Runs a task on the event loop later; returns false if the loop has ended. */
  public boolean post(Runnable task) {
    try {
      loop.runOnContext(ignored -> task.run());
      return true;
    } catch (RuntimeException e) {
      // Event loops reject tasks once their Vert.x is closed.
      return false;
    }
  }

  /** Returns whether the link is, or was a moment ago, connected. Callable from any thread. */
  public boolean isUp() {
    return state == State.UP;
  }

  /** Connects and reconnects until {@link #close}. */
  public void connect() {
    if (state == State.CLOSED) {
      return;
    }
    attempts++;
    state = State.CONNECTING;
    int mine = ++generation;
    try {
      Redis made = clients.create();
      client = made;
      vertx.setTimer(
          clients.connectTimeoutMillis(), id -> attemptFailed(mine, "the connection timed out"));
      Future<RedisConnection> connecting = made.connect();
      attempt = connecting;
      connecting.onComplete(result -> onLoop(() -> connected(mine, result)));
    } catch (RuntimeException e) {
      attemptFailed(mine, ServerError.reason(ServerError.code(e)));
    }
  }

  private void onLoop(Runnable task) {
    if (loop.equals(Vertx.currentContext())) {
      task.run();
    } else {
      post(task);
    }
  }

  private void connected(int mine, AsyncResult<RedisConnection> result) {
    if (mine != generation) {
      return;
    }
    if (result.failed()) {
      String code = ServerError.code(result.cause());
      attemptFailed(mine, code == null ? "the connection failed" : ServerError.reason(code));
      return;
    }
    RedisConnection connection = result.result();
    connection.endHandler(end -> onLoop(() -> lost(mine, ServerError.reason(null))));
    connection.exceptionHandler(e -> onLoop(() -> lost(mine, ServerError.reason(null))));
    connection.handler(unasked -> {});
    pipeline =
        clients.clustered()
            ? RedisPipeline.clustered(connection)
            : RedisPipeline.single(connection);
    state = State.UP;
    watchers.counters.connects.increment();
    watchers.outage.ends();
    while (state == State.UP && !waiting.isEmpty()) {
      startOrPark(nextWaiting());
    }
  }

  private void attemptFailed(int mine, String reason) {
    if (mine != generation || state != State.CONNECTING) {
      return;
    }
    watchers.counters.failedConnects.increment();
    watchers.outage.begins(reason);
    down(reason, State.RESTING);
    rest();
  }

  private void lost(int mine, String reason) {
    if (mine != generation || state != State.UP) {
      return;
    }
    watchers.counters.lostConnections.increment();
    down(reason, State.RESTING);
    if (attempts == 0) {
      connect();
    } else {
      rest();
    }
  }

  /** Drops the connection and fails the commands that wait for its answers. */
  private void down(String reason, State next) {
    generation++;
    pipeline = null;
    downReason = reason;
    inFlight = 0;
    state = next;
    closeClient();
    List<Sent> orphans = new ArrayList<>(unanswered);
    unanswered.clear();
    orphans.forEach(sent -> sent.answer.fail(new RedisFailure(reason)));
  }

  private void rest() {
    if (!patience.waits) {
      refuseWaiting();
    }
    int mine = generation;
    vertx.setTimer(
        pauseMillis(attempts),
        id -> {
          if (mine == generation && state == State.RESTING) {
            connect();
          }
        });
  }

  /** A doubled delay, with 25% jitter so that a fleet does not reconnect in step. */
  private static long pauseMillis(int attempts) {
    long pause = FIRST_PAUSE_MILLIS << Math.min(attempts - 1, MOST_DOUBLINGS);
    return pause * 3 / 4 + ThreadLocalRandom.current().nextLong(pause / 2);
  }

  private void refuseWaiting() {
    while (!waiting.isEmpty()) {
      nextWaiting().fail(downReason);
    }
  }

  private Operation<?> nextWaiting() {
    Operation<?> next = waiting.iterator().next();
    waiting.remove(next);
    return next;
  }

  private void closeClient() {
    Redis old = client;
    client = null;
    if (old != null) {
      old.close();
    }
  }

  /** Starts an operation once there is a connection. */
  public void startOrPark(Operation<?> operation) {
    if (operation.isOver()) {
      return;
    }
    if (state == State.UP) {
      operation.start();
    } else if (state != State.CLOSED && mayWait()) {
      waiting.add(operation);
      CompletionStage<?> unused =
          operation.result().whenComplete((result, failure) -> waiting.remove(operation));
    } else {
      operation.fail(state == State.CLOSED ? CLOSED : downReason);
    }
  }

  /** Operations of an impatient link wait only for the first attempt. */
  private boolean mayWait() {
    return patience.waits || (state == State.CONNECTING && attempts <= 1);
  }

  /** Sends commands. The answer may arrive before this method returns. */
  Future<List<Response>> send(List<Request> requests) {
    RedisPipeline up = pipeline;
    if (up == null) {
      return Future.failedFuture(new RedisFailure(state == State.CLOSED ? CLOSED : downReason));
    }
    if (inFlight + requests.size() > clients.maxPendingCommands()) {
      watchers.counters.refused.increment();
      return Future.failedFuture(new RedisFailure(TOO_MANY));
    }
    Sent sent = new Sent(Promise.promise(), requests.size(), generation, System.nanoTime());
    inFlight += sent.commands;
    unanswered.add(sent);
    if (!watching) {
      watch(patience.answerMillis);
    }
    up.send(requests).onComplete(result -> onLoop(() -> answered(sent, result)));
    return sent.answer.future();
  }

  private void answered(Sent sent, AsyncResult<List<Response>> result) {
    if (!unanswered.remove(sent)) {
      return;
    }
    inFlight -= sent.commands;
    if (result.succeeded()) {
      attempts = 0;
      sent.answer.complete(result.result());
      return;
    }
    String code = ServerError.code(result.cause());
    sent.answer.fail(new RedisFailure(ServerError.reason(code)));
    if (ServerError.leadsElsewhere(code)) {
      lost(sent.generation, ServerError.reason(code));
    }
  }

  /** Discards the connection when the oldest commands are not answered in time. */
  private void watch(long millis) {
    watching = true;
    vertx.setTimer(
        Math.max(1, millis),
        id -> {
          watching = false;
          Iterator<Sent> oldest = unanswered.iterator();
          if (!oldest.hasNext()) {
            return;
          }
          Sent sent = oldest.next();
          long passed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sent.nanos);
          if (passed >= patience.answerMillis) {
            lost(sent.generation, "Redis does not answer");
          } else {
            watch(patience.answerMillis - passed);
          }
        });
  }

  /** Creates a link to one node of the cluster on the same event loop. */
  public RedisLink toNode(String host, int port) {
    return new RedisLink(
        loop, clients.node(host, port), watchers, new Patience(false, patience.answerMillis));
  }

  /** Returns whether the link connects to a cluster. */
  public boolean clustered() {
    return clients.clustered();
  }

  /** Returns the Vert.x instance that owns the event loop. */
  public Vertx vertx() {
    return vertx;
  }

  /**
   * Releases the connection; pending operations fail.
   *
   * @return completes when no connection attempt is under way, which would outlive its event loop
   */
  public Future<?> close() {
    if (state != State.CLOSED) {
      down(CLOSED, State.CLOSED);
      refuseWaiting();
    }
    return attempt.otherwiseEmpty();
  }
}
