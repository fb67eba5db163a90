package io.inferspan.kvcache.redis;

import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One connection to Redis on one event loop, re-established whenever it is lost.
 *
 * <p>If an answer takes too long, the link discards the connection together with its client,
 * because only closing the client closes a stuck socket. Except for {@link #post}, call its methods
 * on the event loop.
 */
final class RedisLink {

  private static final Logger LOGGER = System.getLogger("io.inferspan.kvcache.redis");

  private static final String TOO_MANY = "too many commands wait for Redis";
  private static final String LOOPS_GONE = "the event loops of the index have ended";
  private static final long FIRST_PAUSE_MILLIS = 50;
  private static final int MOST_DOUBLINGS = 6;
  private static final String CLOSED = "the index is closed";

  /** The holders that this event loop has read. */
  final PodFields fields;

  final RedisIndexCounts counts;
  private final Vertx vertx;
  private final Context loop;
  private final RedisIndexOptions options;
  private final Outage outage;
  private final boolean waits;
  private final long answerMillis;
  private final AtomicInteger pending = new AtomicInteger();

  /** Operations that wait for a connection, in order; ended ones are removed. */
  private final Set<Operation<?>> waiting = new LinkedHashSet<>();

  private final Set<Sent> unanswered = new LinkedHashSet<>();
  // Read by other threads as a hint; written on the loop.
  private volatile State state = State.RESTING;
  private @Nullable Redis client;
  private @Nullable Function<List<Request>, Future<List<Response>>> pipeline;
  private Future<?> attempt = Future.succeededFuture();
  private String downReason = "not connected to Redis yet";
  private int generation;
  private int attempts;
  private int inFlight;

  private enum State {
    CONNECTING,
    UP,
    /** Not connected: waits for the next attempt. */
    RESTING,
    CLOSED
  }

  /** Logs once that Redis is unreachable and once that it is back, for all links of an index. */
  record Outage(RedisAddress address, AtomicBoolean now) {

    private void began(String reason) {
      if (now.compareAndSet(false, true)) {
        LOGGER.log(
            Level.WARNING, "The index at {0} is unreachable ({1}); reconnecting", address, reason);
      }
    }

    private void ended() {
      if (now.compareAndSet(true, false)) {
        LOGGER.log(Level.INFO, "The index at {0} is back", address);
      }
    }
  }

  /** Commands whose answers have not arrived yet, and the connection that they were sent on. */
  private record Sent(Promise<List<Response>> answer, int commands, int generation) {}

  /**
   * Creates a link that is down until {@link #connect}.
   *
   * @param waits whether operations wait for a connection, rather than fail while there is none
   */
  RedisLink(
      Context loop,
      RedisIndexOptions options,
      RedisIndexCounts counts,
      Outage outage,
      boolean waits) {
    this.vertx = loop.owner();
    this.loop = loop;
    this.options = options;
    this.counts = counts;
    this.outage = outage;
    this.fields = new PodFields(counts);
    this.waits = waits;
    long writeMillis = options.writeTimeout.toMillis();
    this.answerMillis =
        waits ? writeMillis : Math.max(writeMillis, options.lookupTimeout.toMillis());
  }

  /**
   * Runs a task on the event loop later, unless too many commands are pending or the loop has
   * ended. Callable from any thread.
   *
   * @param commands the number of commands to count as pending until {@link #done}; call {@code
   *     done} even if the task is refused
   * @return the reason why it does not run; null if it does
   */
  @Nullable RedisFailure post(int commands, Runnable task) {
    if (pending.addAndGet(commands) > options.maxPendingCommands) {
      counts.increment(RedisIndexCount.REFUSED);
      return new RedisFailure(TOO_MANY);
    }
    return post(task) ? null : new RedisFailure(LOOPS_GONE);
  }

  /** Notes that a task has ended or was refused. */
  void done(int commands) {
    pending.addAndGet(-commands);
  }

  /** Returns how many commands are pending. Callable from any thread. */
  int pending() {
    return pending.get();
  }

  /** Runs a task on the event loop later; returns false if the loop has ended. */
  boolean post(Runnable task) {
    try {
      loop.runOnContext(ignored -> task.run());
      return true;
    } catch (RuntimeException e) {
      // Event loops reject tasks once their Vert.x is closed.
      return false;
    }
  }

  /** Returns whether the link is, or was a moment ago, connected. Callable from any thread. */
  boolean isUp() {
    return state == State.UP;
  }

  /** Connects and reconnects until {@link #close}. */
  void connect() {
    if (state == State.CLOSED) {
      return;
    }
    attempts++;
    state = State.CONNECTING;
    int mine = ++generation;
    try {
      Redis made = Redis.createClient(vertx, options.client());
      client = made;
      Future<RedisConnection> connecting = made.connect();
      attempt = connecting;
      connecting
          .timeout(options.connectTimeout.toMillis(), TimeUnit.MILLISECONDS)
          .onComplete(result -> onLoop(() -> connected(mine, result)));
    } catch (RuntimeException e) {
      attemptFailed(mine, RedisFailure.ofClient(e).reason());
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
      String reason = RedisFailure.ofClient(result.cause()).reason();
      attemptFailed(mine, reason.equals(RedisFailure.LOST) ? "the connection failed" : reason);
      return;
    }
    RedisConnection connection = result.result();
    connection.endHandler(end -> onLoop(() -> lost(mine, RedisFailure.LOST)));
    connection.exceptionHandler(e -> onLoop(() -> lost(mine, RedisFailure.LOST)));
    connection.handler(unasked -> {});
    pipeline = clustered() ? RedisCommands.spreading(connection) : connection::batch;
    state = State.UP;
    counts.increment(RedisIndexCount.CONNECTS);
    outage.ended();
    while (state == State.UP && !waiting.isEmpty()) {
      startOrPark(nextWaiting());
    }
  }

  private void attemptFailed(int mine, String reason) {
    if (mine != generation || state != State.CONNECTING) {
      return;
    }
    counts.increment(RedisIndexCount.FAILED_CONNECTS);
    outage.began(reason);
    down(reason, State.RESTING);
    rest();
  }

  private void lost(int mine, String reason) {
    if (mine != generation || state != State.UP) {
      return;
    }
    counts.increment(RedisIndexCount.LOST_CONNECTIONS);
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
    if (!waits) {
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

  /**
   * Returns a delay that doubles with each attempt, up to a limit. It varies by 25 % at random, so
   * that a fleet does not reconnect in step.
   */
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

  /**
   * Starts an operation now, or once there is a connection; fails it if it may not wait for one.
   */
  void startOrPark(Operation<?> operation) {
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

  /**
   * Returns whether operations wait for a connection. Without {@code waits}, they do so only during
   * the first attempt to connect.
   */
  private boolean mayWait() {
    return waits || (state == State.CONNECTING && attempts <= 1);
  }

  /** Sends commands. The answer may arrive before this method returns. */
  Future<List<Response>> send(List<Request> requests) {
    Function<List<Request>, Future<List<Response>>> up = pipeline;
    if (up == null) {
      return Future.failedFuture(new RedisFailure(state == State.CLOSED ? CLOSED : downReason));
    }
    if (inFlight + requests.size() > options.maxPendingCommands) {
      counts.increment(RedisIndexCount.REFUSED);
      return Future.failedFuture(new RedisFailure(TOO_MANY));
    }
    Sent sent = new Sent(Promise.promise(), requests.size(), generation);
    inFlight += sent.commands;
    unanswered.add(sent);
    up.apply(requests)
        .timeout(answerMillis, TimeUnit.MILLISECONDS)
        .onComplete(result -> onLoop(() -> answered(sent, result)));
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
    RedisFailure failure = RedisFailure.ofClient(result.cause());
    sent.answer.fail(failure);
    if (failure.leadsElsewhere()) {
      lost(sent.generation, failure.reason());
    }
  }

  /** Creates a client of one node of the cluster. */
  Redis clientOf(RedisCommands.Node node) {
    return Redis.createClient(vertx, options.client(node));
  }

  /** Adds the link's timeout to a future of another client, and converts its failure. */
  Future<List<Response>> answered(Future<List<Response>> answer) {
    return answer
        .timeout(answerMillis, TimeUnit.MILLISECONDS)
        .recover(e -> Future.failedFuture(RedisFailure.ofClient(e)));
  }

  /** Returns whether the link connects to a cluster. */
  boolean clustered() {
    return options.topology == RedisClientType.CLUSTER;
  }

  /** Returns the Vert.x instance that owns the event loop. */
  Vertx vertx() {
    return vertx;
  }

  /**
   * Releases the connection; pending operations fail.
   *
   * @return completes when no connection attempt is under way, because an attempt could outlive its
   *     event loop
   */
  Future<?> close() {
    if (state != State.CLOSED) {
      down(CLOSED, State.CLOSED);
      refuseWaiting();
    }
    return attempt.otherwiseEmpty();
  }
}
