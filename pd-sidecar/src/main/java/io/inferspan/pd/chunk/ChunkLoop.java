package io.inferspan.pd.chunk;

import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.metrics.Stage;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.EngineQuestion;
import io.inferspan.pd.stage.LiveRequest;
import io.inferspan.pd.stage.OwnAnswer;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.StageBody;
import io.inferspan.pd.stage.StageRun;
import io.inferspan.pd.tracing.StageTrace;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.semconv.PdAttributes;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import org.jspecify.annotations.Nullable;

/** Decodes chunk after chunk until the answer is complete, or the client has gone. */
public final class ChunkLoop {
  private final PdRequest request;
  private final DecodeLeg leg;
  private final ChunkQuestions questions;
  private final ChunkedAnswer merged = new ChunkedAnswer();
  private final @Nullable StageTrace stage;
  private final StageTrace trace;
  private final StageRun counted;
  private @Nullable EngineQuestion open;
  private @Nullable OwnAnswer out;
  private long tokens;
  private boolean over;

  /**
   * A loop that is yet to start.
   *
   * @param leg where to decode, and what becomes of the answer
   */
  public ChunkLoop(PdRequest request, DecodeLeg leg, ChunkQuestions questions) {
    this.request = request;
    this.leg = leg;
    this.questions = questions;
    this.stage = request.hasPrefiller() ? request.trace().decode() : null;
    this.trace = request.trace().chunkedDecode();
    this.counted = request.live().begin(Stage.DECODE, trace.spanContext());
  }

  /** Asks for the first chunk. */
  public void start() {
    trace.set(PdAttributes.CHUNK_SIZE, questions.budget());
    trace.set(PdAttributes.CHUNKED_STREAMING, request.streaming());
    if (stage != null) {
      boolean routed = leg.target() != null && request.dataParallel();
      stage.set(PdAttributes.DECODE_STREAMING, request.streaming());
      stage.set(PdAttributes.DECODE_DATA_PARALLEL, routed);
      if (!routed) {
        stage.set(PdAttributes.DECODE_TARGET, request.decoder(leg).authority());
      }
    }
    request.live().whenGone(this::cancel);
    askNext();
  }

  private void askNext() {
    StageBody body = StageBody.of(questions.next(merged.text()));
    open = request.ask(leg, body, trace);
    open.answer().onSuccess(this::take);
  }

  private void take(EngineAnswer answer) {
    if (!answer.ok()) {
      fail(answer);
      return;
    }
    ChunkAnswer chunk;
    try {
      chunk = ChunkAnswer.read(answer.body(), request.limits().jsonDepth());
    } catch (InvalidJson _) {
      fail(UpstreamException.unreadable());
      return;
    }
    count(chunk);
    boolean goesOn = chunk.cut() && !chunk.text().isEmpty() && !questions.exhausted() && fits();
    if (request.streaming()) {
      stream(answer).send(merged.event(goesOn));
    }
    if (goesOn) {
      askNext();
    } else {
      finish(answer);
    }
  }

  private void count(ChunkAnswer chunk) {
    // An engine that does not count gave what it was asked for, if anything was left to give.
    long counted = chunk.tokens() > 0 || !chunk.cut() ? chunk.tokens() : questions.budget();
    questions.generated(counted);
    tokens += counted;
    merged.add(chunk);
  }

  /** All of the text goes into each question, so it is bounded as a client's body is. */
  private boolean fits() {
    return merged.length() < request.limits().bodyBytes();
  }

  private OwnAnswer stream(EngineAnswer answer) {
    if (out == null) {
      HttpHeaders headers = headers(answer).set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream");
      out = request.answer(headers, leg);
    }
    return out;
  }

  private static HttpHeaders headers(EngineAnswer answer) {
    return answer.headers().copy().remove(HttpHeaderNames.CONTENT_LENGTH);
  }

  private void finish(EngineAnswer answer) {
    counted.ended();
    endTraces();
    if (request.streaming()) {
      OwnAnswer stream = stream(answer);
      stream.send(merged.ending());
      stream.end();
    } else {
      byte[] body = merged.whole();
      HttpHeaders headers = headers(answer).set(HttpHeaderNames.CONTENT_LENGTH, body.length);
      OwnAnswer whole = request.answer(headers, leg);
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
    failTraces(LiveRequest.errorType(failure));
    counted.failed();
    request.live().decoderFailed(failure);
  }

  private void cancel() {
    if (!over) {
      String reason = request.live().givenUpBecause().type();
      if (open != null) {
        open.cancel(reason);
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
    trace.set(PdAttributes.CHUNKS, (long) merged.chunks());
    trace.set(PdAttributes.CHUNKED_TOKENS, tokens);
    trace.endChunks();
    if (stage != null) {
      stage.endDecode();
    }
  }
}
