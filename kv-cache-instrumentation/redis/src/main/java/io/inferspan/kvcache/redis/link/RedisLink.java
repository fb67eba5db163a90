package io.inferspan.kvcache.redis.link;

import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One connection to Redis on one event loop, re-established whenever it is lost.
 *
 * <p>If an answer takes too long, the link discards the connection together with its client, since
 * nothing less closes a stuck socket. Except for {@link #post}, call its methods on the event loop.
 */
public final class RedisLink {

  /** The failure reason for an answer of an unexpected kind. */
  public static final String STRANGE = "Redis answered with something else";

  /** The failure reason when too many commands are pending. */
  public static final String TOO_MANY = "too many commands wait for Redis";

  private static final int FEW = 64;
  private static final String CLOSED = "the index is closed";

  private final Vertx vertx;
  private final Context loop;
  private final RedisClients clients;
  private final Watchers watchers;
  private final boolean patient;

  private final ArrayDeque<Operation> waiting = new ArrayDeque<>();
  private int sweptAt = FEW;
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

  private enum State {
    CONNECTING,
    UP,
    RESTING,
    CLOSED
  }

  /** Receives connection events. */
  public record Watchers(RedisIndexCounters counters, Outage outage) {}

  /** Commands that have been sent. */
  public final class Sent {
    private final Replies replies;
    private final int commands;
    private final int since = generation;

    private Sent(Replies replies, int commands) {
      this.replies = replies;
      this.commands = commands;
    }
  }

  /**
   * Creates a link that is down until {@link #connect}.
   *
   * @param patient whether operations wait for a connection, rather than fail while there is none
   */
  public RedisLink(Context loop, RedisClients clients, Watchers watchers, boolean patient) {
    this.vertx = loop.owner();
    this.loop = loop;
    this.clients = clients;
    this.watchers = watchers;
    this.patient = patient;
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
          clients.connectTimeoutMillis(), id -> attemptFailed(mine, "connecting took too long"));
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
      attemptFailed(mine, code == null ? "it cannot be connected" : ServerError.reason(code));
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
      startOrPark(waiting.remove());
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
    orphans.forEach(sent -> sent.replies.failed(reason));
  }

  private void rest() {
    if (!patient) {
      refuseWaiting();
    }
    int mine = generation;
    vertx.setTimer(
        Backoff.millis(attempts),
        id -> {
          if (mine == generation && state == State.RESTING) {
            connect();
          }
        });
  }

  private void refuseWaiting() {
    for (Operation next = waiting.poll(); next != null; next = waiting.poll()) {
      next.refused(downReason);
    }
  }

  private void closeClient() {
    Redis old = client;
    client = null;
    if (old != null) {
      old.close();
    }
  }

  /** Starts an operation once there is a connection. */
  public void startOrPark(Operation operation) {
    if (operation.isOver()) {
      return;
    }
    if (state == State.UP) {
      operation.start();
    } else if (state != State.CLOSED && mayWait()) {
      sweep();
      waiting.add(operation);
    } else {
      operation.refused(state == State.CLOSED ? CLOSED : downReason);
    }
  }

  /** Operations of an impatient link wait only for the first attempt. */
  private boolean mayWait() {
    return patient || (state == State.CONNECTING && attempts <= 1);
  }

  /**
   * Drops expired operations from the head; they are there unless a clearing, which never expires,
   * is.
   */
  public void dropOver() {
    while (!waiting.isEmpty() && waiting.peek().isOver()) {
      waiting.poll();
    }
  }

  /** Also drops those further back, whenever the queue has doubled since the last time. */
  private void sweep() {
    dropOver();
    if (waiting.size() >= sweptAt) {
      waiting.removeIf(Operation::isOver);
      sweptAt = Math.max(FEW, 2 * waiting.size());
    }
  }

  /** Sends commands. The answer may arrive before this method returns. */
  public @Nullable Sent send(List<Request> requests, Replies replies) {
    RedisPipeline up = pipeline;
    if (up == null) {
      replies.failed(state == State.CLOSED ? CLOSED : downReason);
      return null;
    }
    if (inFlight + requests.size() > clients.maxPendingCommands()) {
      watchers.counters.refused.increment();
      replies.failed(TOO_MANY);
      return null;
    }
    Sent sent = new Sent(replies, requests.size());
    inFlight += sent.commands;
    unanswered.add(sent);
    up.send(requests).onComplete(result -> onLoop(() -> answered(sent, result)));
    return sent;
  }

  private void answered(Sent sent, AsyncResult<List<Response>> result) {
    if (!unanswered.remove(sent)) {
      return;
    }
    inFlight -= sent.commands;
    if (result.succeeded()) {
      attempts = 0;
      arrived(sent, result.result());
      return;
    }
    String code = ServerError.code(result.cause());
    sent.replies.failed(ServerError.reason(code));
    if (ServerError.leadsElsewhere(code)) {
      lost(sent.since, ServerError.reason(code));
    }
  }

  private static void arrived(Sent sent, List<Response> replies) {
    try {
      sent.replies.arrived(replies);
    } catch (RuntimeException e) {
      // Redis does not give answers of other kinds to these commands.
      sent.replies.failed(STRANGE);
    }
  }

  /** Discards the connection if these commands are not answered within so many milliseconds. */
  public void expect(Sent sent, long millis) {
    vertx.setTimer(
        millis,
        id -> {
          if (unanswered.contains(sent)) {
            lost(sent.since, "Redis does not answer");
          }
        });
  }

  /** Creates a link to one node of the cluster on the same event loop. */
  public RedisLink toNode(String host, int port) {
    return new RedisLink(loop, clients.node(host, port), watchers, false);
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
