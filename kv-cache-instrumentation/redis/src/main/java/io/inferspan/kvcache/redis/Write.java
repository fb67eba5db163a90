package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.redis.link.Operation;
import io.inferspan.kvcache.redis.link.RedisFailure;
import io.vertx.core.Future;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A change of what one pod holds. */
final class Write extends Operation<Void> {

  private final Writes writes;
  private final Kind kind;
  private final String pod;
  private final int commands;
  private final Function<Write, Future<Void>> work;
  private @Nullable PodLane lane;

  /** The effect on a pod's holdings; it decides which writes may run concurrently. */
  enum Kind {
    ADD,
    REMOVE,
    CLEAR
  }

  /**
   * Creates a change.
   *
   * @param commands the number of commands that it counts for while it waits
   */
  Write(Writes writes, Kind kind, String pod, int commands, Function<Write, Future<Void>> work) {
    this.writes = writes;
    this.kind = kind;
    this.pod = pod;
    this.commands = commands;
    this.work = work;
  }

  Kind kind() {
    return kind;
  }

  String pod() {
    return pod;
  }

  int commands() {
    return commands;
  }

  /** Sets the deadline; a clearing has none, because it takes as long as there are keys. */
  void expire() {
    if (kind != Kind.CLEAR) {
      expireAfter(writes.link().vertx(), writes.timeoutMillis());
    }
  }

  /** Starts the write; the lane is notified when it has finished. */
  void goIn(PodLane lane) {
    this.lane = lane;
    writes.link().startOrPark(this);
  }

  Future<List<Response>> send(List<Request> requests) {
    return send(writes.link(), requests);
  }

  @Override
  protected Future<Void> work() {
    return work.apply(this);
  }

  @Override
  protected void ended(@Nullable RedisFailure failure) {
    writes.ended(this, failure);
    PodLane mine = lane;
    if (mine != null && mine.finished(this)) {
      writes.leave(this, mine);
    }
  }
}
