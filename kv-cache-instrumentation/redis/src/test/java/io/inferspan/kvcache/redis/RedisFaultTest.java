package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import io.vertx.core.Vertx;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An index whose Redis is gone, stuck, slow or not Redis at all. */
class RedisFaultTest {

  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final Duration LONG = Duration.ofSeconds(20);

  /** The deadline is 50 ms; the rest allows for a loaded machine. */
  private static final long LATEST_MILLIS = 50 + 450;

  private Vertx vertx;

  @SuppressWarnings("NullAway.Init")
  private RedisBlockIndex index;

  /** In a fresh JVM the classes of the client take longer to load than any deadline. */
  @BeforeAll
  static void loadClasses() {
    try (BrokenRedis web = BrokenRedis.afterWelcome((in, out) -> out.write(new byte[] {'x'}));
        RedisBlockIndex warm =
            RedisBlockIndex.open(RedisIndexOptions.single(web.address()).build())) {
      Awaited.within(
          LONG,
          "a lost connection",
          () -> {
            done(warm.lookup(new long[] {1}, Set.of(), new BlockHits(), Context.root()));
            return warm.counts().get(RedisIndexCount.LOST_CONNECTIONS) > 0;
          });
    }
  }

  @BeforeEach
  void startLoops() {
    vertx = Vertx.vertx();
  }

  @AfterEach
  void stop() {
    if (index != null) {
      index.close();
    }
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void withoutAServer_lookupsFailAtOnce_afterTheFirstAttempt() {
    open("redis://127.0.0.1:" + RedisServer.freePort());
    Awaited.within(
        LONG, "attempts", () -> index.counts().get(RedisIndexCount.FAILED_CONNECTS) >= 6);

    long begun = System.nanoTime();
    BlockHits hits = lookup(1);
    assertThat(hits.failure()).isEqualTo("the connection failed");
    assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.MILLISECONDS.toNanos(40));
    assertThat(index.counts().get(RedisIndexCount.LOOKUP_FAILURES)).isEqualTo(1);
  }

  @Test
  void aSilentServer_costsTheDeadlineAndNoMore() {
    try (BrokenRedis silent = BrokenRedis.silent()) {
      open(silent.address());
      meetsDeadlines(20);
    }
  }

  @Test
  void aServerThatStopsAnswering_isDisconnected_andReconnected() {
    try (BrokenRedis falling =
        BrokenRedis.afterWelcome((in, out) -> in.transferTo(OutputStream.nullOutputStream()))) {
      open(falling.address());
      Awaited.within(LONG, "connections", () -> index.counts().get(RedisIndexCount.CONNECTS) == 3);
      meetsDeadlines(20);
      Awaited.within(
          LONG,
          "given up",
          () -> {
            lookup(1);
            return index.counts().get(RedisIndexCount.LOST_CONNECTIONS) >= 2
                && index.counts().get(RedisIndexCount.CONNECTS) >= 5;
          });
      Awaited.within(LONG, "old sockets closed", () -> falling.open() <= 3);
    }
  }

  @Test
  void oneByteASecond_costsTheDeadlineAndNoMore() {
    try (BrokenRedis slow =
        BrokenRedis.afterWelcome(
            (in, out) -> {
              for (int i = 0; i < 60; i++) {
                out.write("*1\r\n$5\r\nhello\r\n".charAt(i % 15));
                TimeUnit.SECONDS.sleep(1);
              }
            })) {
      open(slow.address());
      meetsDeadlines(20);
      Awaited.within(
          LONG, "given up", () -> index.counts().get(RedisIndexCount.LOST_CONNECTIONS) >= 1);
    }
  }

  @Test
  void garbage_isAFailure_andTheSocketIsClosed() {
    byte[] html = "HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(ISO_8859_1);
    try (BrokenRedis web =
        BrokenRedis.afterWelcome(
            (in, out) -> {
              out.write(html);
              in.transferTo(OutputStream.nullOutputStream());
            })) {
      open(web.address());
      meetsDeadlines(20);
      Awaited.within(
          LONG,
          "lost connections",
          () -> {
            lookup(1);
            return index.counts().get(RedisIndexCount.LOST_CONNECTIONS) >= 5;
          });
      Awaited.within(LONG, "old sockets closed", () -> web.open() <= 3);
    }
  }

  @Test
  void answersOfOtherKinds_neverBreakALookup() {
    long seed = 20_261_121;
    System.out.println("answers of other kinds, seed " + seed);
    Random random = new Random(seed);
    try (BrokenRedis odd =
        BrokenRedis.afterWelcome(
            (in, out) -> {
              while (true) {
                out.write(randomAnswer(random));
                BrokenRedis.read(in);
              }
            })) {
      open(odd.address());
      meetsDeadlines(200);
    }
  }

  /** Whole values of all kinds, and beginnings of some. */
  private static byte[] randomAnswer(Random random) {
    String[] values = {
      "*2\r\n:1\r\n:2\r\n",
      "*0\r\n",
      "*-1\r\n",
      "$3\r\nabc\r\n",
      "$-1\r\n",
      "$0\r\n\r\n",
      ":7\r\n",
      "+no\r\n",
      "-ERR no\r\n",
      "_\r\n",
      "#t\r\n",
      "%1\r\n+a\r\n:1\r\n",
      "~1\r\n:1\r\n",
      ">1\r\n+a\r\n",
      "(12\r\n",
      ",1.5\r\n",
      "*1\r\n$-1\r\n",
      "*1\r\n*1\r\n+a\r\n",
      "*1\r\n$2\r\n{}\r\n"
    };
    StringBuilder answer = new StringBuilder();
    for (int i = random.nextInt(8); i >= 0; i--) {
      answer.append(values[random.nextInt(values.length)]);
    }
    return answer.toString().getBytes(ISO_8859_1);
  }

  @Test
  void aLateAnswer_leavesTheBufferToItsOwner() throws Exception {
    needsServer();
    try (RedisServer server = RedisServer.start()) {
      open(server.address());
      done(index.add(new long[0], new long[] {1}, List.of(A), Context.root()));
      BlockHits buffer = new BlockHits();
      server.freeze();
      List<BlockHits> late = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        late.add(done(index.lookup(new long[] {1}, Set.of(), buffer, Context.root())));
      }
      buffer.reset(1);
      server.thaw();
      for (int i = 0; i < 2; i++) {
        assertThat(lookupWhenUp(1).at(0)).containsExactly(A);
      }

      assertThat(late).hasSize(4);
      assertThat(buffer.at(0)).isEmpty();
      assertThat(buffer.failure()).isNull();
      assertThat(index.counts().get(RedisIndexCount.LOOKUP_TIMEOUTS)).isGreaterThanOrEqualTo(4);
    }
  }

  @Test
  void killedDuringLookups_itFailsFast_andRecoversByItself() {
    needsServer();
    try (RedisServer server = RedisServer.start()) {
      open(server.address());
      done(index.add(new long[0], new long[] {1}, List.of(A), Context.root()));
      for (int round = 0; round < 3; round++) {
        List<CompletableFuture<BlockHits>> flying = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
          flying.add(begin(new long[500]));
        }
        server.kill();
        flying.forEach(RedisFaultTest::done);
        meetsDeadlines(5);

        server.restart();
        done(retried(new long[] {1}));
        assertThat(lookupWhenUp(1).at(0)).containsExactly(A);
      }
      assertThat(index.counts().get(RedisIndexCount.LOST_CONNECTIONS)).isGreaterThanOrEqualTo(6);
      assertThat(index.pendingCommands()).isZero();
    }
  }

  private CompletionStage<Void> retried(long[] keys) {
    return index
        .add(new long[0], keys, List.of(A), Context.root())
        .exceptionallyCompose(e -> index.add(new long[0], keys, List.of(A), Context.root()));
  }

  @Test
  void writesWhileItIsDown_failByTheirDeadline_andWaitForAQuickReturn() {
    needsServer();
    try (RedisServer server = RedisServer.start()) {
      index =
          RedisBlockIndex.open(
              RedisIndexOptions.single(server.address())
                  .writeTimeout(Duration.ofSeconds(5))
                  .build(),
              vertx);
      Awaited.within(LONG, "connections", () -> index.counts().get(RedisIndexCount.CONNECTS) == 3);
      server.kill();
      Awaited.within(LONG, "loss", () -> index.counts().get(RedisIndexCount.LOST_CONNECTIONS) == 3);
      CompletionStage<Void> write =
          index.add(new long[0], new long[] {1}, List.of(A), Context.root());
      server.restart();
      done(write);
      assertThat(lookupWhenUp(1).at(0)).containsExactly(A);
    }
  }

  private BlockHits lookupWhenUp(long key) {
    BlockHits[] last = new BlockHits[1];
    Awaited.within(
        LONG,
        "lookups",
        () -> {
          last[0] = lookup(key);
          return last[0].failure() == null;
        });
    return last[0];
  }

  @Test
  void writesWhileItIsDown_haveABound() {
    index =
        RedisBlockIndex.open(
            RedisIndexOptions.single("redis://127.0.0.1:" + RedisServer.freePort())
                .maxPendingCommands(1_024)
                .writeTimeout(Duration.ofMillis(300))
                .build(),
            vertx);
    List<CompletionStage<Void>> writes = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      writes.add(index.add(new long[0], new long[] {i}, List.of(A), Context.root()));
    }
    assertThat(index.pendingCommands()).isLessThanOrEqualTo(1_024);
    assertThat(index.counts().get(RedisIndexCount.REFUSED)).isGreaterThanOrEqualTo(1_900);
    for (CompletionStage<Void> write : writes) {
      assertThatThrownBy(() -> done(write)).hasCauseInstanceOf(RedisFailure.class);
    }
    assertThat(index.pendingCommands()).isZero();
    assertThat(index.counts().get(RedisIndexCount.WRITE_FAILURES)).isEqualTo(3_000);
  }

  @Test
  void pendingOperations_endWhenTheIndexCloses() {
    try (BrokenRedis silent = BrokenRedis.silent()) {
      index =
          RedisBlockIndex.open(
              RedisIndexOptions.single(silent.address())
                  .lookupTimeout(Duration.ofSeconds(30))
                  .writeTimeout(Duration.ofSeconds(30))
                  .connectTimeout(Duration.ofSeconds(30))
                  .build(),
              vertx);
      CompletableFuture<BlockHits> lookup = begin(new long[] {1});
      CompletionStage<Void> write = index.clear("p");
      CompletionStage<?> query = index.requestKey(1);
      index.close();

      assertThat(done(lookup).failure()).isEqualTo("the index is closed");
      assertThatThrownBy(() -> done(write)).hasMessageContaining("the index is closed");
      assertThatThrownBy(() -> done(query)).hasMessageContaining("the index is closed");
      assertThat(lookup(1).failure()).isEqualTo("the index is closed");
      Awaited.within(LONG, "sockets closed", () -> silent.open() == 0);
    }
  }

  @Test
  void pendingOperations_endWhenVertxCloses() {
    try (BrokenRedis silent = BrokenRedis.silent()) {
      index =
          RedisBlockIndex.open(
              RedisIndexOptions.single(silent.address())
                  .lookupTimeout(Duration.ofSeconds(30))
                  .connectTimeout(Duration.ofSeconds(30))
                  .build(),
              vertx);
      CompletableFuture<BlockHits> lookup = begin(new long[] {1});
      vertx.close().toCompletionStage().toCompletableFuture().join();

      assertThat(done(lookup).failure()).isNotNull();
      assertThat(lookup(1).failure()).isNotNull();
      assertThatThrownBy(() -> done(index.clear("p"))).hasCauseInstanceOf(RedisFailure.class);
    }
  }

  @Test
  void openingAndClosing_leavesNoThreadAndNoConnection() {
    needsServer();
    try (RedisServer server = RedisServer.start();
        RawRedis raw = server.connect()) {
      int threads = Thread.activeCount();
      for (int i = 0; i < 20; i++) {
        try (RedisBlockIndex own =
            RedisBlockIndex.open(RedisIndexOptions.single(server.address()).build())) {
          own.lookup(new long[] {1}, Set.of(), new BlockHits(), Context.root());
        }
      }
      Awaited.within(LONG, "connections closed", () -> clients(raw) == 1);
      Awaited.within(LONG, "threads ended", () -> Thread.activeCount() <= threads);
    }
  }

  private static long clients(RawRedis raw) {
    return raw.send("CLIENT", "LIST").get(0).lines().count();
  }

  private void meetsDeadlines(int lookups) {
    BlockHits buffer = new BlockHits();
    for (int i = 0; i < lookups; i++) {
      long begun = System.nanoTime();
      done(index.lookup(new long[] {1, 2}, Set.of(), buffer, Context.root()));
      assertThat(System.nanoTime() - begun)
          .isLessThan(TimeUnit.MILLISECONDS.toNanos(LATEST_MILLIS));
    }
  }

  private void open(String address) {
    index = RedisBlockIndex.open(RedisIndexOptions.single(address).build(), vertx);
  }

  private static void needsServer() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
  }

  private BlockHits lookup(long key) {
    return done(begin(new long[] {key}));
  }

  private CompletableFuture<BlockHits> begin(long[] keys) {
    return index.lookup(keys, Set.of(), new BlockHits(), Context.root()).toCompletableFuture();
  }

  private static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join();
  }
}
