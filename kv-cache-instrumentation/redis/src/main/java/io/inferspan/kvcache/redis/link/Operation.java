package io.inferspan.kvcache.redis.link;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** An operation on Redis that ends once, with or without success, by its deadline. */
public abstract class Operation<T> {

  private static final long NO_TIMER = -1;

  private final CompletableFuture<T> result = new CompletableFuture<>();
  private long timer = NO_TIMER;
  private boolean over;

  /** Creates an operation that has not started. */
  protected Operation() {}

  /** Does the work. Called when there is a connection. */
  protected abstract Future<T> work();

  /** Called when the operation has ended, before its result is there; null means success. */
  protected void ended(@Nullable RedisFailure failure) {}

  /** Completes with the result, or with a {@link RedisFailure}. */
  public final CompletableFuture<T> result() {
    return result;
  }

  /** Returns whether the operation has ended. */
  public final boolean isOver() {
    return over;
  }

  final void start() {
    work().onComplete(value -> end(value, null), cause -> end(null, RedisFailure.of(cause)));
  }

  /** Fails the operation, unless it has ended. */
  public final void fail(String reason) {
    end(null, new RedisFailure(reason));
  }

  /** Sends commands; an answer that comes after the end of the operation is dropped. */
  public final Future<List<Response>> send(RedisLink link, List<Request> requests) {
    Promise<List<Response>> answer = Promise.promise();
    link.send(requests)
        .onComplete(
            (replies, failure) -> {
              if (!over) {
                answer.complete(replies, failure);
              }
            });
    return answer.future();
  }

  /** Sets the deadline, unless it is set already. */
  public final void expireAfter(Vertx vertx, long millis) {
    if (timer == NO_TIMER) {
      timer = vertx.setTimer(Math.max(1, millis), id -> end(null, RedisFailure.late()));
      CompletionStage<T> unused = result.whenComplete((value, failure) -> vertx.cancelTimer(timer));
    }
  }

  @SuppressWarnings("NullAway") // a Void has no other value
  private void end(@Nullable T value, @Nullable RedisFailure failure) {
    if (over) {
      return;
    }
    over = true;
    ended(failure);
    if (failure == null) {
      result.complete(value);
    } else {
      result.completeExceptionally(failure);
    }
  }
}
