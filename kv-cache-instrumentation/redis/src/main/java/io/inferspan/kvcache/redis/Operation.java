package io.inferspan.kvcache.redis;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** An operation on Redis that ends once, with or without success, by its deadline. */
abstract class Operation<T> {

  private static final long NO_TIMER = -1;

  final RedisLink link;
  private final int commands;
  private final CompletableFuture<T> result = new CompletableFuture<>();
  private long timer = NO_TIMER;
  private boolean over;

  /**
   * Creates an operation that has not started.
   *
   * @param commands the number of commands to count as pending until it ends
   */
  Operation(RedisLink link, int commands) {
    this.link = link;
    this.commands = commands;
  }

  /** Does the work. Called when there is a connection. */
  abstract Future<T> work();

  /** Called when the operation has ended, before its stage completes; null means success. */
  void ended(@Nullable RedisFailure failure) {}

  /** Returns the stage that completes with the result, or with a {@link RedisFailure}. */
  final CompletionStage<T> result() {
    return result.minimalCompletionStage();
  }

  /** Runs a task on the link's event loop; if it is refused, the operation fails. */
  final CompletionStage<T> submit(Runnable task) {
    RedisFailure refusal = link.post(commands, task);
    if (refusal != null) {
      end(null, refusal);
    }
    return result();
  }

  /** Returns whether the operation has ended. */
  final boolean isOver() {
    return over;
  }

  final void start() {
    work().onComplete(value -> end(value, null), cause -> end(null, RedisFailure.of(cause)));
  }

  /** Fails the operation, unless it has ended. */
  final void fail(String reason) {
    end(null, new RedisFailure(reason));
  }

  final Future<List<Response>> send(List<Request> requests) {
    return unlessOver(link.send(requests));
  }

  /** Returns {@code answer}, or a future that never completes if the operation ends before it. */
  final <R> Future<R> unlessOver(Future<R> answer) {
    Promise<R> passed = Promise.promise();
    answer.onComplete(
        (reply, failure) -> {
          if (!over) {
            passed.complete(reply, failure);
          }
        });
    return passed.future();
  }

  /** Sets the deadline, unless it is set already. */
  final void expireAfter(long millis) {
    if (timer == NO_TIMER) {
      timer = link.vertx().setTimer(Math.max(1, millis), id -> end(null, RedisFailure.late()));
    }
  }

  @SuppressWarnings("NullAway") // a Void has no other value
  private void end(@Nullable T value, @Nullable RedisFailure failure) {
    if (over) {
      return;
    }
    over = true;
    if (timer != NO_TIMER) {
      link.vertx().cancelTimer(timer);
    }
    link.done(commands);
    ended(failure);
    if (failure == null) {
      result.complete(value);
    } else {
      result.completeExceptionally(failure);
    }
  }
}
