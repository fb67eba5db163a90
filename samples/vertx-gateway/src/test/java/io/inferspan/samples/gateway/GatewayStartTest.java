package io.inferspan.samples.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.inferspan.Telemetry;
import io.inferspan.epp.plugins.disagg.SingleProfileHandler;
import io.inferspan.epp.plugins.pick.MaxScorePicker;
import io.inferspan.epp.plugins.score.PrecisePrefixCacheScorer;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.epp.scheduling.SchedulerProfile;
import io.inferspan.samples.gateway.config.GatewayConfig;
import io.opentelemetry.api.OpenTelemetry;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests gateways that cannot start. */
class GatewayStartTest {

  private static final Duration SOON = Duration.ofSeconds(10);

  /** The port of tcpmux, on which no server listens. */
  private static final String UNREACHABLE = "127.0.0.1:1";

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void schedulerThatNeedsTokens_needsATokenizer() {
    Scheduler scheduler =
        Scheduler.builder(new SingleProfileHandler())
            .profile(
                SchedulerProfile.named("p")
                    .scorer(
                        new PrecisePrefixCacheScorer(
                            (tokens, model, pods, context) ->
                                CompletableFuture.completedFuture(Map.of())))
                    .picker(new MaxScorePicker()))
            .build();
    LlmGateway.Builder gateway =
        LlmGateway.with(
            GatewayConfig.parse(List.of("--decode=" + UNREACHABLE, "--port=0"), Map.of()));
    assertThat(catchThrowable(() -> gateway.scheduler(scheduler).start(vertx)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a scorer of the scheduler needs a tokenizer");
  }

  @Test
  void portInUse_leavesNothingOpen() throws Exception {
    InetAddress host = InetAddress.getByName("127.0.0.77");
    Set<Thread> before = Thread.getAllStackTraces().keySet();
    try (ServerSocket taken = new ServerSocket(0, 1, host)) {
      int metrics = freePort(host);
      GatewayConfig config =
          GatewayConfig.parse(
              List.of(
                  "--host=" + host.getHostAddress(),
                  "--port=" + taken.getLocalPort(),
                  "--metrics-port=" + metrics,
                  "--decode=" + UNREACHABLE,
                  "--kv-events=" + UNREACHABLE),
              Map.of());

      assertThat(
              LlmGateway.with(config)
                  .telemetry(Telemetry.using(OpenTelemetry.noop()))
                  .start(vertx)
                  .toCompletionStage()
                  .toCompletableFuture())
          .failsWithin(SOON)
          .withThrowableThat()
          .havingRootCause()
          .isInstanceOf(BindException.class);
      new ServerSocket(metrics, 1, host).close();
      long end = System.nanoTime() + SOON.toNanos();
      while (!newThreadNames(before).isEmpty() && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertThat(newThreadNames(before)).isEmpty();
    }
  }

  private static List<String> newThreadNames(Set<Thread> before) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread))
        .map(Thread::getName)
        .filter(name -> name.startsWith("inferspan"))
        .toList();
  }

  /** Returns a free port of an address that no other program uses. */
  private static int freePort(InetAddress host) throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, host)) {
      return socket.getLocalPort();
    }
  }
}
