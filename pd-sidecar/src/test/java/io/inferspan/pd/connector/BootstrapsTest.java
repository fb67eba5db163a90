package io.inferspan.pd.connector;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.rig.ScriptedEngine;
import io.inferspan.pd.rig.TriggeredEngine;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class BootstrapsTest {
  private final Loops loops = Loops.start("auto", 2);
  private final Upstreams upstreams =
      new Upstreams(
          loops,
          new Upstreams.Settings(null, 8, Upstreams.IDLE_LIMIT, 8192, new ConnectionMeters()));

  @AfterEach
  void stop() {
    upstreams.close();
    loops.close();
  }

  private EventLoop nextLoop() {
    return loops.server().config().childGroup().next();
  }

  /** Queries on an event loop; checks that the result arrives on that loop, and returns it. */
  private CompletableFuture<List<Bootstraps.Engine>> ask(
      Bootstraps bootstraps, String authority, EventLoop loop) {
    Target server = Objects.requireNonNull(Target.parse(authority));
    CompletableFuture<List<Bootstraps.Engine>> answered = new CompletableFuture<>();
    loop.execute(
        () ->
            bootstraps
                .engines(server, upstreams, loop)
                .onSuccess(engines -> answered.complete(loop.inEventLoop() ? engines : List.of()))
                .onFailure(answered::completeExceptionally));
    return answered;
  }

  @Test
  void concurrentRequests_shareOneQuery_andGetTheResultOnTheirLoops() throws Exception {
    Bootstraps bootstraps = new Bootstraps(Duration.ofSeconds(5));
    try (ScriptedEngine server = ScriptedEngine.answering("")) {
      server.answer(
          ScriptedEngine.json(200, "{\"4\":{\"engine_id\":\"four\"}}").withFixedDelay(100));
      List<CompletableFuture<List<Bootstraps.Engine>>> answers = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        answers.add(ask(bootstraps, server.authority(), nextLoop()));
      }

      for (CompletableFuture<List<Bootstraps.Engine>> answer : answers) {
        assertThat(answer.get(5, TimeUnit.SECONDS))
            .containsExactly(new Bootstraps.Engine("4", "four"));
      }
      assertThat(server.requests()).hasSize(1);
    }
  }

  @Test
  void silentServer_timesOut() {
    Bootstraps bootstraps = new Bootstraps(Duration.ofMillis(100));
    try (TriggeredEngine silent = TriggeredEngine.start()) {
      CompletableFuture<List<Bootstraps.Engine>> answer =
          ask(bootstraps, silent.authority(), nextLoop());

      assertThatThrownBy(() -> answer.get(3, TimeUnit.SECONDS))
          .hasRootCauseMessage(
              "the bootstrap server " + silent.authority() + " did not answer in time");
    }
  }
}
