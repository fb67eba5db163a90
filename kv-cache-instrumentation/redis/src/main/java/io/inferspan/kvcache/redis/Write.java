package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisLink;
import io.inferspan.kvcache.redis.link.Replies;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A change of what one pod holds. */
abstract class Write extends Operation {

  private final Writes writes;
  private final String pod;
  private final int commands;
  private final CompletableFuture<Void> made = new CompletableFuture<>();
  private @Nullable PodLane lane;

  Write(Writes writes, String pod, int commands) {
    super(writes.link().vertx());
    this.writes = writes;
    this.pod = pod;
    this.commands = commands;
  }

  /** The effect on a pod's holdings; it decides which writes may run concurrently. */
  enum Kind {
    ADD,
    REMOVE,
    CLEAR
  }

  abstract Kind kind();

  final Writes writes() {
    return writes;
  }

  final String pod() {
    return pod;
  }

  /** Returns the number of commands that it counts for while it waits. */
  final int commands() {
    return commands;
  }

  final CompletableFuture<Void> made() {
    return made;
  }

  /** Starts the write; it notifies the lane when it has finished. */
  final void goIn(PodLane lane) {
    this.lane = lane;
    writes.link().startOrPark(this);
  }

  /** Sends commands and continues with the answers, unless the write has ended by then. */
  final void send(List<Request> requests, Consumer<List<Response>> then) {
    send(writes.link(), requests, then);
  }

  final void send(RedisLink link, List<Request> requests, Consumer<List<Response>> then) {
    RedisLink.Sent sent =
        link.send(
            requests,
            new Replies() {
              @Override
              public void arrived(List<Response> replies) {
                if (!isOver()) {
                  then.accept(replies);
                }
              }

              @Override
              public void failed(String reason) {
                refused(reason);
              }
            });
    if (sent != null) {
      link.expect(sent, writes.timeoutMillis());
    }
  }

  /** Completes the write successfully. */
  final void succeed() {
    if (end()) {
      settle();
      made.complete(null);
    }
  }

  @Override
  public final void refused(String reason) {
    if (end()) {
      writes.counters().writeFailures.increment();
      settle();
      made.completeExceptionally(new RedisFailure(reason));
    }
  }

  @Override
  public final void expired() {
    refused("Redis did not make the change in time");
  }

  /** Releases resources other than the index's connection. */
  void letGo() {}

  private void settle() {
    letGo();
    writes.settled(this);
    PodLane mine = lane;
    if (mine != null) {
      mine.finished(this);
    }
  }
}
