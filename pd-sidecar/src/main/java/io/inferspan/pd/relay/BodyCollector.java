package io.inferspan.pd.relay;

import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.server.BodyListener;
import io.inferspan.pd.server.ClientExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Collects the body of a request within limits of size, time and rate. */
public final class BodyCollector implements BodyListener {
  private static final long FIRST_BYTES = 4 * 1024;
  private static final Duration WINDOW = Duration.ofSeconds(5);

  private final ClientExchange exchange;
  private final Bounds bounds;
  private final HeldBody body;
  private final Consumer<End> next;
  private final long startedNanos = System.nanoTime();
  private @Nullable ScheduledFuture<?> check;
  private int lengthBefore;
  private boolean over;

  /**
   * The limits of a body.
   *
   * @param time the time limit from the head to the end; zero for none
   * @param bytesPerSecond the minimum average rate; zero for none
   */
  public record Bounds(long bytes, Duration time, long bytesPerSecond) {}

  public enum End {
    COMPLETE,
    TOO_LARGE,
    /** The limit for all bodies would be exceeded. */
    NO_ROOM,
    /** The client is too slow. */
    TOO_SLOW
  }

  private BodyCollector(ClientExchange exchange, Bounds bounds, HeldBody body, Consumer<End> next) {
    this.exchange = exchange;
    this.bounds = bounds;
    this.body = body;
    this.next = next;
  }

  /**
   * Collects the body of {@code exchange}, or rejects it early if its content length is too large.
   *
   * @param body receives the bytes; the caller releases it
   */
  public static void collect(
      ClientExchange exchange, Bounds bounds, HeldBody body, Consumer<End> next) {
    long announced = HttpUtil.getContentLength(exchange.request(), FIRST_BYTES);
    if (announced > bounds.bytes()) {
      next.accept(End.TOO_LARGE);
    } else if (!body.expect(announced)) {
      next.accept(End.NO_ROOM);
    } else {
      exchange.continueBody();
      exchange.body(new BodyCollector(exchange, bounds, body, next));
    }
  }

  @Override
  public void content(ByteBuf content) {
    if (!over) {
      if ((long) body.length() + content.readableBytes() > bounds.bytes()) {
        end(End.TOO_LARGE);
      } else if (!body.append(content)) {
        end(End.NO_ROOM);
      }
    }
    content.release();
  }

  /** Starts the timer, which a body that arrives at once does not need. */
  @Override
  public void pause() {
    if (!over && check == null) {
      checkLater();
    }
  }

  private void checkLater() {
    long millis = WINDOW.toMillis();
    if (!bounds.time().isZero()) {
      long passedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
      millis = Math.min(millis, Math.max(1, bounds.time().toMillis() - passedMillis));
    }
    check = exchange.loop().schedule(this::check, millis, TimeUnit.MILLISECONDS);
  }

  /** Checks that a slow body reaches the minimum rate in each window. */
  private void check() {
    if (over) {
      return;
    }
    long passed = System.nanoTime() - startedNanos;
    long came = (long) body.length() - lengthBefore;
    boolean overdue = !bounds.time().isZero() && passed >= bounds.time().toNanos();
    if (overdue || (passed >= WINDOW.toNanos() && came < leastPerWindow())) {
      end(End.TOO_SLOW);
    } else {
      lengthBefore = body.length();
      checkLater();
    }
  }

  private long leastPerWindow() {
    return bounds.bytesPerSecond() * WINDOW.toSeconds();
  }

  @Override
  public void end(HttpHeaders trailers) {
    if (!over) {
      end(End.COMPLETE);
    }
  }

  private void end(End how) {
    over = true;
    if (check != null) {
      check.cancel(false);
    }
    next.accept(how);
  }
}
