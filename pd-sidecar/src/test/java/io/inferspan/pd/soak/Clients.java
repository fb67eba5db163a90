package io.inferspan.pd.soak;

import static java.net.http.HttpRequest.BodyPublishers.ofString;

import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.telemetry.LeavingClient;
import io.inferspan.testing.engine.EngineScript;
import io.inferspan.testing.engine.FakeEngine;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/** Clients that send one request after the other, and engines that fail some of them. */
final class Clients {
  private static final String CHAT = "/v1/chat/completions";
  private static final String PREFILLER = "x-prefiller-host-port";
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int TOKENS = 24;

  private final SidecarRig sidecar;
  private final FakeEngine prefiller;
  private final FakeEngine decoder;
  private final String resetter;
  private final LongAdder sent = new LongAdder();
  private final LongAdder left = new LongAdder();
  private final LongAdder faults = new LongAdder();
  private final LongAdder broken = new LongAdder();

  Clients(SidecarRig sidecar, FakeEngine prefiller, FakeEngine decoder, Resetter resetter) {
    this.sidecar = sidecar;
    this.prefiller = prefiller;
    this.decoder = decoder;
    this.resetter = resetter.authority();
    decoder.script(
        EngineScript.builder().tokens(TOKENS).betweenTokens(Duration.ofMillis(8)).build());
  }

  long sent() {
    return sent.sum();
  }

  long left() {
    return left.sum();
  }

  long faults() {
    return faults.sum();
  }

  /** Returns the number of responses that were truncated for their client. */
  long broken() {
    return broken.sum();
  }

  /** Sends requests over {@code streams} concurrent streams for {@code time}. */
  void run(int streams, Duration time) {
    long deadline = System.nanoTime() + time.toNanos();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var all =
          IntStream.range(0, streams)
              .<Future<?>>mapToObj(_ -> threads.submit(() -> sendUntil(deadline)))
              .toList();
      for (Future<?> one : all) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError("a client failed", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void sendUntil(long deadline) {
    while (System.nanoTime() - deadline < 0) {
      maybeFault();
      int dice = ThreadLocalRandom.current().nextInt(100);
      String target = target();
      sent.increment();
      if (dice < 40) {
        keepAlive(target);
      } else if (dice < 70) {
        toTheEnd(target);
      } else {
        leaving(target, dice);
      }
    }
  }

  private String target() {
    int dice = ThreadLocalRandom.current().nextInt(100);
    return dice < 40 ? "" : dice < 95 ? prefiller.authority() : resetter;
  }

  private void maybeFault() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (random.nextInt(10) > 0) {
      return;
    }
    faults.increment();
    EngineScript.Builder script = EngineScript.builder().tokens(TOKENS);
    int after = random.nextInt(TOKENS);
    EngineScript fault =
        switch (random.nextInt(8)) {
          case 0 -> script.failWith(500, "out of memory").build();
          case 1 -> script.failWith(503, "busy").build();
          case 2 -> script.cutBeforeHeaders().build();
          case 3 -> script.cutAfterTokens(after).build();
          case 4 -> script.errorEventAfterTokens(after, "gone wrong").build();
          case 5 -> script.garbageAfterTokens(after).build();
          case 6 -> script.slowHeaders(Duration.ofMillis(100)).build();
          default -> script.stallAfterTokens(after).build();
        };
    (random.nextBoolean() ? prefiller : decoder).enqueue(fault);
  }

  private static String body() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return "{\"model\":\"m\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
        .formatted(random.nextInt(4) > 0, "word ".repeat(random.nextInt(1, 2_000)));
  }

  private void keepAlive(String target) {
    String[] headers = target.isEmpty() ? new String[0] : new String[] {PREFILLER, target};
    HttpRequest request = sidecar.request(CHAT, headers).POST(ofString(body())).build();
    CompletableFuture<?> answer = sidecar.client().sendAsync(request, BodyHandlers.discarding());
    try {
      answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      broken.increment();
      answer.cancel(true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private LeavingClient open(String target) {
    String routing = target.isEmpty() ? "x-nothing: 1" : PREFILLER + ": " + target;
    return LeavingClient.post(sidecar.port(), CHAT, body(), routing, "connection: close");
  }

  private void toTheEnd(String target) {
    try (LeavingClient client = open(target).patient(PATIENCE)) {
      client.readUntil("nothing that ever comes");
    } catch (UncheckedIOException e) {
      broken.increment();
    }
  }

  /** Disconnects after an interim or final response shows that the sidecar has the request. */
  private void leaving(String target, int dice) {
    left.increment();
    String routing = target.isEmpty() ? "x-nothing: 1" : PREFILLER + ": " + target;
    LeavingClient client =
        LeavingClient.post(
            sidecar.port(), CHAT, body(), routing, "connection: close", "expect: 100-continue");
    try {
      client.patient(PATIENCE).readUntil(dice < 85 ? "HTTP/1.1 " : "tok");
    } catch (UncheckedIOException e) {
      broken.increment();
    }
    if (dice % 2 == 0) {
      client.reset();
    } else {
      client.close();
    }
  }
}
