package io.inferspan.testing.engine;

import io.inferspan.testing.engine.EngineRequest.Outcome;
import io.inferspan.testing.engine.EngineScript.Fault;
import io.inferspan.testing.engine.EngineScript.FaultKind;
import io.inferspan.testing.engine.EngineSpan.Moments;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.TimeUnit;

/** Runs one inference request through the script's phases, on one event loop with timers. */
final class Generation {
  private static final long NO_TIMER = -1;
  private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

  /**
   * Bytes that are neither UTF-8 nor an event. They end like an event, so that the next event is
   * valid.
   */
  private static final byte[] GARBAGE = {
    (byte) 0xff, (byte) 0xfe, 0, '{', '"', (byte) 0xc3, 0x28, ':', (byte) 0x80, '\n', '\n'
  };

  /** The number of waiting and running requests; used only on the engine's event loop. */
  static final class Load {
    int waiting;
    int running;
  }

  private final FakeEngine engine;
  private final HttpServerRequest http;
  private final HttpServerResponse response;
  private final EngineRequest seen;
  private final ApiDialect dialect;
  private final Reply reply;
  private final EngineScript script;
  private final boolean stream;
  private final int total;
  private int produced;
  private boolean scheduled;
  private boolean faulted;
  private boolean over;
  private long timer = NO_TIMER;
  private long queuedNanos;
  private long scheduledNanos;
  private long firstTokenNanos;
  private long lastTokenNanos;

  Generation(
      FakeEngine engine,
      HttpServerRequest http,
      EngineRequest seen,
      ApiDialect dialect,
      Reply reply) {
    this.engine = engine;
    this.http = http;
    this.response = http.response();
    this.seen = seen;
    this.dialect = dialect;
    this.reply = reply;
    this.script = reply.script();
    this.stream = reply.call().stream();
    this.total = reply.tokens();
  }

  void start() {
    engine.load.waiting++;
    response.exceptionHandler(broken -> {});
    response.closeHandler(closed -> clientGone());
    after(script.headersNanos, this::sendHead);
  }

  private void sendHead() {
    Fault fault = script.fault;
    String rejection = reply.call().rejection();
    if (fault.kind() == FaultKind.CUT_BEFORE_HEADERS) {
      cut();
    } else if (fault.kind() == FaultKind.STATUS) {
      answerFault(fault);
    } else if (rejection != null) {
      answerError(400, rejection);
    } else {
      enterQueue();
    }
  }

  private void enterQueue() {
    queuedNanos = System.nanoTime();
    if (stream) {
      setHeaders(200, "text/event-stream; charset=utf-8");
      response.setChunked(true);
      response.writeHead();
      send(dialect.preamble(reply));
    }
    after(script.queueNanos, this::schedule);
  }

  private void schedule() {
    scheduledNanos = System.nanoTime();
    scheduled = true;
    engine.load.waiting--;
    engine.load.running++;
    after(script.prefillNanos(reply.promptTokens()), this::produce);
  }

  /**
   * Produces all tokens that are due, and continues when the next one is due or when the client has
   * read.
   */
  private void produce() {
    while (!over && !faultEndsIt()) {
      if (produced == total) {
        finish();
        return;
      }
      long early = produced == 0 ? 0 : nextTokenNanos() - System.nanoTime();
      if (early > 0) {
        after(early, this::produce);
        return;
      }
      if (stream && response.writeQueueFull()) {
        waitForDrain();
        return;
      }
      produceToken();
    }
  }

  /**
   * Continues after the next drain. Removes the handler, because a timer may run during a later
   * drain.
   */
  private void waitForDrain() {
    response.drainHandler(
        drained -> {
          response.drainHandler(null);
          produce();
        });
  }

  private long nextTokenNanos() {
    return firstTokenNanos + produced * script.betweenTokensNanos;
  }

  private void produceToken() {
    lastTokenNanos = System.nanoTime();
    if (produced == 0) {
      firstTokenNanos = lastTokenNanos;
      send(dialect.opening(reply));
    }
    send(dialect.token(reply, produced));
    produced++;
  }

  /** Applies the fault when its token is due; returns true if no more output follows. */
  private boolean faultEndsIt() {
    Fault fault = script.fault;
    if (faulted || produced != fault.afterTokens()) {
      return false;
    }
    faulted = true;
    switch (fault.kind()) {
      case CUT -> cutInTheMiddle();
      case STALL -> {}
      case ERROR_EVENT -> failInTheMiddle(fault.text());
      case GARBAGE -> {
        send(Buffer.buffer(GARBAGE));
        return false;
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private void cutInTheMiddle() {
    if (!stream) {
      Buffer body = Buffer.buffer(dialect.whole(reply));
      setHeaders(200, "application/json");
      response.putHeader("content-length", Integer.toString(body.length()));
      response.write(body.slice(0, body.length() / 2));
    }
    cut();
  }

  /** Flushes written data, then closes the connection as if the process were killed. */
  private void cut() {
    end(Outcome.CUT);
    http.connection().close();
  }

  private void failInTheMiddle(String message) {
    if (stream) {
      end(Outcome.ANSWERED);
      response.end(dialect.failure(message, produced));
    } else {
      answerError(500, message);
    }
  }

  private void answerFault(Fault fault) {
    if (fault.contentType() == null) {
      answerError(fault.status(), fault.text());
    } else {
      answer(fault.status(), fault.contentType(), Buffer.buffer(fault.text()));
    }
  }

  private void answerError(int status, String message) {
    answer(status, "application/json", Buffer.buffer(dialect.error(status, message)));
  }

  private void answer(int status, String contentType, Buffer body) {
    end(Outcome.ANSWERED);
    setHeaders(status, contentType);
    response.end(body);
  }

  private void finish() {
    long now = System.nanoTime();
    if (total == 0) {
      firstTokenNanos = now;
      lastTokenNanos = now;
      send(dialect.opening(reply));
    }
    // The span is created before the response ends, so that tests need not wait for it.
    engine.span.emit(
        seen,
        reply,
        new Moments(queuedNanos, scheduledNanos, firstTokenNanos, lastTokenNanos, now));
    if (stream) {
      end(Outcome.ANSWERED);
      response.end(dialect.closing(reply));
    } else {
      boolean garbage = script.fault.kind() == FaultKind.GARBAGE;
      Buffer body = garbage ? Buffer.buffer(GARBAGE) : Buffer.buffer(dialect.whole(reply));
      answer(200, "application/json", body);
    }
  }

  private void send(String events) {
    send(Buffer.buffer(events));
  }

  private void send(Buffer event) {
    if (stream && event.length() > 0) {
      response.write(event);
    }
  }

  private void setHeaders(int status, String contentType) {
    response.setStatusCode(status).putHeader("content-type", contentType);
    String requestId = seen.header("x-request-id");
    if (requestId != null) {
      response.putHeader("x-request-id", requestId);
    }
    script.responseHeaders.forEach(response::putHeader);
  }

  private void clientGone() {
    if (over) {
      return;
    }
    end(engine.server.isClosed() ? Outcome.CUT : Outcome.CLIENT_GONE);
    if (timer != NO_TIMER) {
      engine.server.vertx().cancelTimer(timer);
    }
  }

  private void end(Outcome outcome) {
    over = true;
    if (scheduled) {
      engine.load.running--;
    } else {
      engine.load.waiting--;
    }
    seen.end(outcome);
  }

  private void after(long nanos, Runnable step) {
    if (nanos <= 0) {
      step.run();
      return;
    }
    // Rounded up, so that no step runs too early.
    long millis = (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
    timer =
        engine
            .server
            .vertx()
            .setTimer(
                millis,
                fired -> {
                  timer = NO_TIMER;
                  step.run();
                });
  }
}
