package io.inferspan.kvcache.redis;

import static io.inferspan.kvcache.index.KeyType.ENGINE;
import static io.inferspan.kvcache.index.KeyType.REQUEST;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.inferspan.kvcache.index.BlockHits;
import io.inferspan.kvcache.index.PodEntry;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The very bytes in Redis: what llm-d writes is read, and what we write is what llm-d writes. */
class RedisLayoutTest {

  private static final String A_GPU =
      "{\"PodIdentifier\":\"10.0.0.1:8000\",\"DeviceTier\":\"gpu\","
          + "\"Speculative\":false,\"HasGroup\":false,\"GroupIdx\":0}";
  private static final String B_EXPECTED =
      "{\"PodIdentifier\":\"10.0.0.2:8000\",\"DeviceTier\":\"cpu\","
          + "\"Speculative\":true,\"HasGroup\":true,\"GroupIdx\":3}";
  private static final PodEntry A = PodEntry.of("10.0.0.1:8000", "gpu");
  private static final PodEntry B = new PodEntry("10.0.0.2:8000", "cpu", true, true, 3);
  private static final long[] NONE = {};

  private static RedisServer server;

  private RawRedis raw;
  private RedisBlockIndex index;

  @BeforeAll
  static void startServer() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
    server = RedisServer.start();
  }

  @AfterAll
  static void stopServer() {
    if (server != null) {
      server.close();
    }
  }

  @BeforeEach
  void open() {
    raw = server.connect();
    raw.send("FLUSHALL");
    index = RedisBlockIndex.open(patient(server));
  }

  @AfterEach
  void close() {
    index.close();
    raw.close();
  }

  @Test
  void case46_holdersOfAnotherImplementation_areRead() {
    raw.send("HSET", "18446744073709551615", A_GPU, "", B_EXPECTED, "");
    raw.send("HSET", "9223372036854775808", A_GPU, "");

    BlockHits hits = lookup(-1L, Long.MIN_VALUE);
    assertThat(hits.at(0)).containsExactlyInAnyOrder(A, B);
    assertThat(hits.at(1)).containsExactly(A);
  }

  @Test
  void case46_holdersThatWeWrite_areTheSameBytes() {
    done(index.add(NONE, new long[] {-1, 7}, List.of(A, B), Context.root()));

    assertThat(raw.keys()).containsExactly("18446744073709551615", "7");
    assertThat(raw.send("TYPE", "7")).containsExactly("hash");
    for (String key : raw.keys()) {
      // Redis keeps no order among fields.
      assertThat(raw.send("HKEYS", key)).containsExactlyInAnyOrder(A_GPU, B_EXPECTED);
      assertThat(raw.send("HVALS", key)).containsExactly("", "");
    }
  }

  @Test
  void case46_textIsEscapedAsGoDoes() {
    PodEntry odd = PodEntry.of("<a>&\"\\\b\f\n\r\t\u0001\u007f/\u2028\u2029é漢😀\ud800x", "g'pu");
    done(index.add(NONE, new long[] {1}, List.of(odd), Context.root()));

    // As Go makes of it since 1.22, which made two escapes shorter.
    String expected =
        "{\"PodIdentifier\":\"\\u003ca\\u003e\\u0026\\\"\\\\\\b\\f\\n\\r\\t\\u0001\u007f/"
            + "\\u2028\\u2029é漢😀\\ufffdx\",\"DeviceTier\":\"g'pu\","
            + "\"Speculative\":false,\"HasGroup\":false,\"GroupIdx\":0}";
    assertThat(raw.send("HKEYS", "1")).containsExactly(bytes(expected));
  }

  @Test
  void case46_mappingsAreSortedSets_scoredByPlace() {
    done(index.add(new long[] {101, -1}, new long[] {1, 2, 3, 4}, List.of(A), Context.root()));

    assertThat(raw.keys())
        .containsExactly("1", "2", "3", "4", "engine:101", "engine:18446744073709551615");
    assertThat(raw.send("ZRANGE", "engine:101", "0", "-1", "WITHSCORES"))
        .containsExactly("1", "0", "2", "1");
    assertThat(raw.send("ZRANGE", "engine:18446744073709551615", "0", "-1", "WITHSCORES"))
        .containsExactly("3", "2", "4", "3");
  }

  @Test
  void case46_mappingsOfAnotherImplementation_areFollowed() {
    raw.send("HSET", "1", A_GPU, "", B_EXPECTED, "");
    raw.send("HSET", "2", A_GPU, "");
    raw.send("ZADD", "engine:101", "0", "1", "1", "2");
    assertThat(done(index.requestKey(101))).hasValue(2);

    done(index.evict(101, ENGINE, List.of(A), Context.root()));
    assertThat(raw.keys()).containsExactly("1", "engine:101");
    assertThat(raw.send("HGETALL", "1")).containsExactly(B_EXPECTED, "");

    done(index.evict(101, ENGINE, List.of(B), Context.root()));
    assertThat(raw.keys()).isEmpty();
  }

  @Test
  void case46_evictingByRequestKey_leavesMappings() {
    done(index.add(new long[] {101}, new long[] {1}, List.of(A), Context.root()));
    done(index.evict(1, REQUEST, List.of(A), Context.root()));

    assertThat(raw.keys()).containsExactly("engine:101");
  }

  @Test
  void case46_clearing_takesFieldsHoweverTheyAreWritten_andNothingElse() {
    String spaced = "{ \"podidentifier\": \"10.0.0.1:8000\", \"More\": [1] }";
    raw.send("HSET", "1", A_GPU, "", spaced, "", B_EXPECTED, "");
    raw.send("HSET", "2", A_GPU, "");
    raw.send("ZADD", "engine:101", "0", "1");
    raw.send("HSET", "session", A_GPU, "");
    raw.send("SET", "3", A_GPU);
    done(index.clear(A.pod()));

    assertThat(raw.keys()).containsExactly("1", "3", "engine:101", "session");
    assertThat(raw.send("HKEYS", "1")).containsExactly(B_EXPECTED);
    assertThat(raw.send("HKEYS", "session")).containsExactly(A_GPU);
  }

  @Test
  void clearing_readsAllPages() {
    long[] keys = new long[5_000];
    Arrays.setAll(keys, i -> i);
    done(index.add(keys, keys, List.of(A), Context.root()));
    done(index.add(NONE, new long[] {17}, List.of(B), Context.root()));
    done(index.clear(A.pod()));

    assertThat(raw.send("DBSIZE")).containsExactly("5001");
    assertThat(lookup(17).at(0)).containsExactly(B);
  }

  @Test
  void unreadableFields_areSkippedAndCounted() {
    raw.send("HSET", "1", "10.0.0.1:8000@gpu", "", A_GPU, "", "{}", "", "\u00ff\u0000", "");

    assertThat(lookup(1).at(0)).containsExactly(A);
    assertThat(lookup(1).at(0)).containsExactly(A);
    assertThat(index.counts().get(RedisIndexCount.UNREADABLE_FIELDS)).isEqualTo(6);
  }

  @Test
  void aBlockWithUnreadableFieldsOnly_endsTheLookup() {
    raw.send("HSET", "1", "nonsense", "");
    raw.send("HSET", "2", A_GPU, "");

    BlockHits hits = lookup(1, 2);
    assertThat(hits.failure()).isNull();
    assertThat(hits.at(0)).isEmpty();
    assertThat(hits.at(1)).isEmpty();
  }

  @Test
  void aKeyThatIsNoHash_failsTheLookup_andKeepsTheConnection() {
    raw.send("SET", "1", "x");
    raw.send("HSET", "2", A_GPU, "");

    assertThat(lookup(1).failure()).isEqualTo("Redis refused: WRONGTYPE");
    assertThat(lookup(2).at(0)).containsExactly(A);
    assertThat(index.counts().get(RedisIndexCount.LOST_CONNECTIONS)).isZero();
    assertThat(index.counts().get(RedisIndexCount.LOOKUP_FAILURES)).isEqualTo(1);
  }

  @Test
  void aMemberThatIsNoKey_isSkippedAndCounted() {
    raw.send("HSET", "1", A_GPU, "");
    raw.send("ZADD", "engine:5", "0", "1", "1", "engine:5");
    done(index.evict(5, ENGINE, List.of(A), Context.root()));

    assertThat(raw.keys()).isEmpty();
    assertThat(index.counts().get(RedisIndexCount.UNREADABLE_FIELDS)).isEqualTo(1);
  }

  private BlockHits lookup(long... keys) {
    return done(index.lookup(keys, Set.of(), new BlockHits(), Context.root()));
  }

  private static String bytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  private static <T> T done(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
  }

  /** Options with long timeouts, for tests of results rather than of time. */
  static RedisIndexOptions patient(RedisServer server) {
    return RedisIndexOptions.single(server.address())
        .lookupTimeout(Duration.ofSeconds(5))
        .writeTimeout(Duration.ofSeconds(20))
        .build();
  }
}
