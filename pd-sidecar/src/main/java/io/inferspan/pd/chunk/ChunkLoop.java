package io.inferspan.pd.chunk;

import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.request.BufferedCall;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.StageRun;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.semconv.PdAttributes;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** Decodes chunk after chunk until the answer is complete, or the client has gone. */
public final class ChunkLoop {
  /** The number of copies of the generated text while a request or a response is built. */
  private static final int COPIES = 6;

  private final PdRequest request;
  private final DecodeLeg leg;
  private final ChunkRequests requests;
  private final boolean streaming;
  private final ChunkedAnswer merged = new ChunkedAnswer();
  private final @Nullable StageTrace stage;
  private final StageTrace trace;
  private final StageRun counted;
  private @Nullable BufferedCall open;
  private @Nullable LocalResponse out;
  private @Nullable EngineAnswer first;
  private @Nullable EngineAnswer last;
  private long tokens;
  private boolean over;

  /**
   * A loop that is yet to start.
   *
   * @param leg where to decode, and what becomes of the answer
   */
  public ChunkLoop(PdRequest request, DecodeLeg leg, ChunkRequests requests) {
    this.request = request;
    this.leg = leg;
    this.requests = requests;
    this.streaming = request.body().streaming();
    this.stage = request.decision().prefiller() == null ? null : request.trace().decode();
    this.trace = request.trace().chunkedDecode();
    this.counted = request.begin(Stage.DECODE, trace.spanContext());
  }

  /** Asks for the first chunk. */
  public void start() {
    trace.set(PdAttributes.CHUNK_SIZE, requests.budget());
    trace.set(PdAttributes.CHUNKED_STREAMING, streaming);
    if (stage != null) {
      request.describe(stage, leg);
    }
    request.whenGone(this::cancel);
    askNext();
  }

  private void askNext() {
    JsonPieces body = requests.next(merged.text()).pieces();
    open = request.ask(leg, body, trace, this::take);
  }

  private void take(EngineAnswer answer) {
    if (!answer.ok()) {
      fail(answer.heldBy(request.body().held()));
      return;
    }
    hold(answer);
    request.scan(answer, ChunkAnswer.SHAPE, scan -> take(answer, scan.object()));
  }

  private void take(EngineAnswer answer, @Nullable JsonObject json) {
    if (json == null) {
      fail(UpstreamException.unreadable());
      return;
    }
    ChunkAnswer chunk = ChunkAnswer.of(json);
    count(chunk);
    boolean goesOn = chunk.cut() && !chunk.text().isEmpty() && !requests.exhausted() && fits(chunk);
    if (streaming) {
      stream(answer).send(merged.event(goesOn));
    }
    if (goesOn) {
      askNext();
    } else {
      finish(answer);
    }
  }

  /** The first and the last answer are needed to the end. */
  private void hold(EngineAnswer answer) {
    if (first == null) {
      first = answer.heldBy(request.body().held());
    } else {
      releaseLast();
      last = answer;
    }
  }

  private void releaseLast() {
    if (last != null) {
      last.release();
      last = null;
    }
  }

  private void count(ChunkAnswer chunk) {
    // An engine that does not count is assumed to have used its budget if it was cut off.
    long counted = chunk.tokens() > 0 || !chunk.cut() ? chunk.tokens() : requests.budget();
    requests.generated(counted);
    tokens += counted;
    merged.add(chunk);
  }

  /** All of the text goes into each request, so it is bounded as a client's body is. */
  private boolean fits(ChunkAnswer chunk) {
    return merged.length() < request.limits().bodyBytes()
        && request.body().held().take((long) COPIES * chunk.text().length());
  }

  private LocalResponse stream(EngineAnswer answer) {
    if (out == null) {
      HttpHeaders headers = headers(answer).set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream");
      out = new LocalResponse(request, headers, leg);
    }
    return out;
  }

  private static HttpHeaders headers(EngineAnswer answer) {
    return answer.headers().copy().remove(HttpHeaderNames.CONTENT_LENGTH);
  }

  private void finish(EngineAnswer answer) {
    counted.ended();
    endTraces();
    if (streaming) {
      LocalResponse stream = stream(answer);
      stream.send(merged.ending());
      stream.end();
    } else {
      byte[] body = merged.whole();
      HttpHeaders headers = headers(answer).set(HttpHeaderNames.CONTENT_LENGTH, body.length);
      LocalResponse whole = new LocalResponse(request, headers, leg);
      whole.send(Unpooled.wrappedBuffer(body));
      whole.end();
    }
  }

  private void fail(EngineAnswer answer) {
    if (answer.failure() != null) {
      fail(answer.failure());
      return;
    }
    String type = Integer.toString(answer.status());
    failTraces(type);
    counted.failed();
    if (out == null) {
      request.deliver(answer);
    } else {
      out.send(ChunkedAnswer.event(answer.body()));
      out.breakOff(type);
    }
  }

  private void fail(UpstreamException failure) {
    failTraces(failure.type());
    counted.failed();
    request.decoderFailed(failure);
  }

  private void cancel() {
    if (!over) {
      String reason = request.givenUpBecause().type();
      if (open != null) {
        open.cancel(reason);
      }
      if (out != null) {
        out.discard();
      }
      failTraces(reason);
    }
  }

  private void failTraces(String type) {
    trace.fail(type, "chunk decode failed");
    if (stage != null) {
      stage.fail(type, "decode request failed");
    }
    endTraces();
  }

  private void endTraces() {
    over = true;
    releaseLast();
    trace.set(PdAttributes.CHUNKS, (long) merged.chunks());
    trace.set(PdAttributes.CHUNKED_TOKENS, tokens);
    trace.endChunks();
    if (stage != null) {
      stage.endDecode();
    }
  }
}
