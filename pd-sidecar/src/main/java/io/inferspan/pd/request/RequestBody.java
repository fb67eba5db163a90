package io.inferspan.pd.request;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.server.BodyListener;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.EngineCall;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request. The bodies of the request's calls are edited copies of it.
 *
 * <p>It is collected within limits of size, time and rate, then scanned, and released when decode
 * has been sent.
 */
public final class RequestBody implements BodyListener {
  private static final long FIRST_BYTES = 4 * 1024;
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;
  private static final Duration WINDOW = Duration.ofSeconds(5);

  private final PdRequest request;
  private final ClientExchange exchange;
  private final HeldBody held;
  private final Runnable next;
  private final long limit;
  private final long timeoutNanos;
  private final long startedNanos = System.nanoTime();
  private final Map<String, byte[]> presets = new LinkedHashMap<>(0);
  private @Nullable ScheduledFuture<?> check;
  private int lengthBefore;
  private boolean over;
  private @Nullable JsonObject json;
  private @Nullable JsonPieces original;

  /**
   * Creates an empty body.
   *
   * @param held receives the bytes; the caller releases it
   * @param next called when the body has been scanned, unless the request is refused
   */
  RequestBody(PdRequest request, HeldBody held, Runnable next) {
    this.request = request;
    this.exchange = request.exchange();
    this.held = held;
    this.next = next;
    this.limit = Math.min(request.config().get(Settings.BODY_LIMIT), LARGEST_ARRAY);
    this.timeoutNanos = request.config().get(Settings.BODY_TIMEOUT).toNanos();
    held.whenFree(this::forget);
  }

  private void forget() {
    json = null;
    original = null;
  }

  /** Collects the body, or refuses it early if its content length is too large. */
  void collect() {
    long announced = HttpUtil.getContentLength(exchange.request(), FIRST_BYTES);
    if (announced > limit) {
      tooLarge();
    } else if (!held.expect(announced)) {
      noRoom();
    } else {
      exchange.continueBody();
      exchange.body(this);
    }
  }

  @Override
  public void content(ByteBuf content) {
    if (!over) {
      if ((long) held.length() + content.readableBytes() > limit) {
        tooLarge();
      } else if (!held.append(content)) {
        noRoom();
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
    long nanos = WINDOW.toNanos();
    if (timeoutNanos > 0) {
      long left = timeoutNanos - (System.nanoTime() - startedNanos);
      nanos = Math.min(nanos, Math.max(TimeUnit.MILLISECONDS.toNanos(1), left));
    }
    check = exchange.loop().schedule(this::check, nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Rejects a body that has exceeded its timeout, or was slower than the minimum rate in the last
   * window.
   */
  private void check() {
    if (over) {
      return;
    }
    long passed = System.nanoTime() - startedNanos;
    long came = (long) held.length() - lengthBefore;
    long expected = request.config().get(Settings.BODY_MIN_RATE) * WINDOW.toSeconds();
    boolean overdue = timeoutNanos > 0 && passed >= timeoutNanos;
    if (overdue || (passed >= WINDOW.toNanos() && came < expected)) {
      tooSlow();
    } else {
      lengthBefore = held.length();
      checkLater();
    }
  }

  @Override
  public void end(HttpHeaders trailers) {
    if (!over) {
      stop();
      request.guard(() -> request.scan(held, this::scanned));
    }
  }

  private void scanned(JsonScan scan) {
    if (scan.object() == null) {
      request.refuse(
          EngineAnswer.badRequest("invalid JSON: " + scan.fault()),
          "invalid_json",
          "the body is not a JSON object");
    } else {
      json = scan.object();
      next.run();
    }
  }

  private void stop() {
    over = true;
    if (check != null) {
      check.cancel(false);
    }
  }

  private void noRoom() {
    stop();
    request.metrics().noRoomForBody();
    request.refuse(
        EngineAnswer.busy(
            "the limit of %d bytes for all bodies is reached (--held-bodies-limit)"
                .formatted(held.bodies().limit()),
            null),
        "no_room_for_body",
        "the limit for held bodies is reached");
  }

  private void tooLarge() {
    request.metrics().bodyTooLarge();
    refuse(
        HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
        "the body is larger than the limit of %d bytes (--body-limit)".formatted(limit),
        "body_too_large",
        "the body is larger than allowed");
  }

  private void tooSlow() {
    String why = "the body did not arrive in time";
    refuse(
        HttpResponseStatus.REQUEST_TIMEOUT,
        why + " (--body-timeout, --body-min-rate)",
        "body_too_slow",
        why);
  }

  private void refuse(HttpResponseStatus status, String text, String errorType, String why) {
    stop();
    exchange.closeAfter();
    request.refuse(EngineAnswer.error(status, text), errorType, why);
  }

  public JsonObject json() {
    JsonObject scanned = json;
    if (scanned == null) {
      throw new IllegalStateException(
          "the body was released, because no more stages were expected");
    }
    return scanned;
  }

  public HeldBody held() {
    return held;
  }

  /**
   * Creates a call that sends a body made from this one; its response is passed to {@code next}
   * unless the request fails meanwhile.
   */
  public EngineCall call(
      HttpRequest head, JsonPieces sent, CallTrace trace, Consumer<EngineAnswer> next) {
    Consumer<EngineAnswer> guarded = answer -> request.guard(() -> next.accept(answer));
    return new EngineCall(head, sent, held.retain(), limit, trace, guarded);
  }

  /** Sets a member in all bodies that are made from now on. */
  public void preset(String member, byte[] value) {
    presets.put(member, value);
    original = null;
  }

  /** Returns whether the client, or an earlier stage, has set a member. */
  public boolean has(String member) {
    return presets.containsKey(member) || json().has(member);
  }

  public boolean changed() {
    return !presets.isEmpty();
  }

  public JsonEdit edit() {
    JsonEdit edit = json().edit();
    presets.forEach(edit::set);
    return edit;
  }

  /** Returns the client's body, unchanged except for the members that earlier stages have set. */
  public JsonPieces original() {
    JsonPieces pieces = original == null ? edit().pieces() : original;
    original = pieces;
    return pieces;
  }

  public boolean streaming() {
    JsonValue stream = json().value(BodyMembers.STREAM);
    return stream != null && stream.isTrue();
  }
}
