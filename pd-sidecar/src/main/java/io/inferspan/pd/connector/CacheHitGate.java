package io.inferspan.pd.connector;

import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.SseLines;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.request.Gate;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.upstream.EngineAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import java.util.function.Consumer;

/** Withholds a decoder's response from the client if it reports too few cache hits. */
final class CacheHitGate implements Gate {
  private static final String CHOICES = "choices";
  private static final String TOO_LITTLE = "cache_threshold";

  /**
   * The number of events to check. Engines report a miss in the first event, and may end the stream
   * with the second.
   */
  private static final int EVENTS = 2;

  /**
   * The maximum length of these events. Longer events count as a hit, because each check would read
   * the response from its first byte.
   */
  private static final int MAX_EVENT_BYTES = 1 << 20;

  private final PdRequest request;
  private final boolean streaming;
  private final Consumer<Boolean> whenDropped;
  private Runnable recheck = () -> {};
  private Verdict verdict = Verdict.WAIT;
  private boolean looking;
  private boolean unreadable;

  /**
   * Creates a gate for one response.
   *
   * @param whenDropped called when the response was dropped; the argument is true if it was not a
   *     JSON object
   */
  CacheHitGate(PdRequest request, Consumer<Boolean> whenDropped) {
    this.request = request;
    this.streaming = request.body().streaming();
    this.whenDropped = whenDropped;
  }

  /** Sets the action that runs another check. */
  void recheckedBy(Runnable action) {
    recheck = action;
  }

  @Override
  public long maxHeldBytes(long limit) {
    return streaming ? Math.min(limit, MAX_EVENT_BYTES) : limit;
  }

  @Override
  public void dropped() {
    whenDropped.accept(unreadable);
  }

  @Override
  public Verdict look(HttpResponse head, HeldBody body, Progress progress) {
    if (head.status().codeClass() != HttpStatusClass.SUCCESS) {
      removeHeaders(head);
      return Verdict.PASS;
    }
    if (!streaming && progress == Progress.COMPLETE) {
      return whole(body);
    }
    if (streaming) {
      ByteBuf come = body.toBuffer();
      boolean enough = progress == Progress.COMPLETE || SseLines.endOfEvents(come, EVENTS) >= 0;
      Verdict verdict = enough ? events(come) : Verdict.WAIT;
      come.release();
      if (enough) {
        return verdict;
      }
    }
    return progress == Progress.FULL ? Verdict.PASS : Verdict.WAIT;
  }

  /** Removes the headers of an error response: the client gets only its status and body. */
  private static void removeHeaders(HttpResponse head) {
    String length = head.headers().get(HttpHeaderNames.CONTENT_LENGTH);
    head.headers().clear().add(EngineAnswer.plainText());
    if (length != null) {
      head.headers().set(HttpHeaderNames.CONTENT_LENGTH, length);
    }
  }

  private static Verdict events(ByteBuf body) {
    boolean[] missed = new boolean[1];
    SseLines.forEachData(body, event -> missed[0] |= tooLittle(event));
    return missed[0] ? Verdict.DROP : Verdict.PASS;
  }

  /** Checks a complete response; for a large one the result comes later. */
  private Verdict whole(HeldBody body) {
    if (!looking) {
      looking = true;
      request.scan(body, this::looked);
    }
    return verdict;
  }

  private void looked(JsonScan scan) {
    JsonObject answer = scan.object();
    unreadable = answer == null;
    verdict = answer == null || tooLittle(answer) ? Verdict.DROP : Verdict.PASS;
    recheck.run();
  }

  private static boolean tooLittle(JsonObject answer) {
    JsonValue reason = answer.at(CHOICES, "0", "finish_reason");
    return reason != null && reason.isText(TOO_LITTLE);
  }
}
