package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server that answers, but refuses commands for a while. */
class RedisRefusalTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final long[] NONE = {};

  @BeforeEach
  void needsServer() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
  }

  @Test
  void aMasterThatIsAReplicaForAWhile_isWrittenToAgain() {
    try (RedisServer master = RedisServer.start();
        RedisServer server = RedisServer.start();
        RawRedis raw = server.connect();
        RedisBlockIndex index =
            RedisBlockIndex.open(RedisIndexOptions.single(server.address()).build())) {
      assertThat(failureOfWrite(index)).isNull();
      raw.send("REPLICAOF", "127.0.0.1", Integer.toString(master.port()));
      assertThat(failureOfWrite(index)).isEqualTo("Redis refused: READONLY");

      raw.send("REPLICAOF", "NO", "ONE");
      Awaited.until("writes", () -> failureOfWrite(index) == null);
      assertThat(lookup(index).at(0)).containsExactly(A);
      assertThat(index.pendingCommands()).isZero();
    }
  }

  @Test
  void aServerThatRunsASlowScript_isUsedAgainAfterwards() {
    try (RedisServer server = RedisServer.start("--lua-time-limit", "1");
        RawRedis slow = server.connect();
        RawRedis raw = server.connect();
        RedisBlockIndex index =
            RedisBlockIndex.open(RedisIndexOptions.single(server.address()).build())) {
      Awaited.until("a write", () -> failureOfWrite(index) == null);
      Thread script = new Thread(() -> slow.send("EVAL", "while true do end", "0"));
      script.setDaemon(true);
      script.start();
      Awaited.until("busy", () -> "Redis refused: BUSY".equals(lookup(index).failure()));
      assertThat(failureOfWrite(index)).isNotNull();

      assertThat(raw.send("SCRIPT", "KILL")).containsExactly("OK");
      Awaited.until("lookups", () -> lookup(index).failure() == null);
      Awaited.until("writes", () -> failureOfWrite(index) == null);
      assertThat(lookup(index).at(0)).containsExactly(A);
    }
  }

  private static @Nullable String failureOfWrite(RedisBlockIndex index) {
    try {
      done(index.add(NONE, new long[] {1}, List.of(A), Context.root()));
      return null;
    } catch (CompletionException e) {
      return Objects.requireNonNull(e.getCause()).getMessage();
    }
  }

  private static BlockHits lookup(RedisBlockIndex index) {
    return done(index.lookup(new long[] {1}, Set.of(), new BlockHits(), Context.root()));
  }

  private static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
