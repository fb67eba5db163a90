package io.inferspan.pd.connector;

import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.relay.Gate;
import io.inferspan.pd.sse.SseLines;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;

/** Keeps the answer of a decoder that found too little in its cache from the client. */
final class CacheHitGate implements Gate {
  private static final String CHOICES = "choices";
  private static final JsonShape ANSWER = JsonShape.of(CHOICES);
  private static final String TOO_LITTLE = "cache_threshold";

  /** Whoever finds too little says so in the first event; the second may end the stream. */
  private static final int EVENTS = 2;

  /** Events this long are no such answer; each look starts at the first byte. */
  private static final int MOST_EVENT_BYTES = 1 << 20;

  private final boolean streaming;
  private final int jsonDepth;
  private final long mostBytes;
  private boolean unreadable;

  /**
   * A gate for one answer.
   *
   * @param bodyLimit an answer beyond it is not held any longer
   */
  CacheHitGate(boolean streaming, int jsonDepth, long bodyLimit) {
    this.streaming = streaming;
    this.jsonDepth = jsonDepth;
    this.mostBytes = streaming ? Math.min(bodyLimit, MOST_EVENT_BYTES) : bodyLimit;
  }

  /** Whether the answer was dropped because it is no answer of an engine. */
  boolean unreadable() {
    return unreadable;
  }

  @Override
  public Verdict look(HttpResponse head, ByteBuf body, boolean complete) {
    if (head.status().codeClass() != HttpStatusClass.SUCCESS) {
      return Verdict.PASS;
    }
    boolean enough = complete || (streaming && SseLines.endOfEvents(body, EVENTS) >= 0);
    if (!enough) {
      return body.readableBytes() > mostBytes ? Verdict.PASS : Verdict.WAIT;
    }
    return streaming ? events(body) : whole(body);
  }

  private static Verdict events(ByteBuf body) {
    boolean[] missed = new boolean[1];
    SseLines.forEachData(body, ANSWER, event -> missed[0] |= tooLittle(event));
    return missed[0] ? Verdict.DROP : Verdict.PASS;
  }

  private Verdict whole(ByteBuf body) {
    try {
      JsonObject answer = JsonObject.scan(ByteBufUtil.getBytes(body), ANSWER, jsonDepth);
      return tooLittle(answer) ? Verdict.DROP : Verdict.PASS;
    } catch (InvalidJson _) {
      unreadable = true;
      return Verdict.DROP;
    }
  }

  private static boolean tooLittle(JsonObject answer) {
    JsonValue reason = answer.at(CHOICES, "0", "finish_reason");
    return reason != null && reason.isText(TOO_LITTLE);
  }
}
