package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.net.PemTrustOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisIndexOptionsTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:6379,                 redis://127.0.0.1:6379",
    "host,                           redis://host",
    "redis://,                       redis://localhost:6379",
    "valkey://host:1/2,              redis://host:1/2",
    "valkeys://host,                 rediss://host",
    "rediss://u:p@host:1?db=2,       rediss://host:1/2",
    "redis://u:p@[::1]:7/0,          redis://[::1]:7/0",
    "unix:///run/redis.sock,         unix:/run/redis.sock",
    "unix://u:p@/run/a b?db=3,       unix:/run/a%20b?db=3",
  })
  void addresses_areReadAsLlmdReadsThem(String url, String connection) {
    assertThat(RedisAddress.parse(url).connectionString()).isEqualTo(connection);
  }

  @Test
  void logins_areDecoded() {
    RedisAddress address = RedisAddress.parse("redis://us%40er:p%3Aa+ss@host");
    assertThat(address.user()).isEqualTo("us@er");
    assertThat(address.password()).isEqualTo("p:a+ss");
    assertThat(address).hasToString("redis://host");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://host",
        "redis://u:secret@ho st",
        "redis://u:secret@host:99999",
        "redis://u:secret@host:port",
        "redis://u:secret@host/x",
        "redis://u:secret@host/-1",
        "redis://u:secret@host/1?db=2",
        "redis://u:secret@host?dial_timeout=3",
        "redis://u:secret%zz@host",
        "redis://my_host",
        "unix://",
        "unix://u:secret@",
        "unix:///run/x?db=a"
      })
  void invalidAddresses_areRefused(String url) {
    assertThatThrownBy(() -> RedisIndexOptions.single(url).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("The address of Redis is invalid: ")
        .hasMessageContaining("it must be redis://")
        .message()
        .doesNotContain("secret");
  }

  @Test
  void contradictoryOptions_areRefused() {
    refused(RedisIndexOptions.cluster(List.of()), "has no address");
    refused(RedisIndexOptions.cluster(List.of("a", "rediss://b")), "differ in more than");
    refused(
        RedisIndexOptions.cluster(List.of("redis://a/2", "redis://b/2")),
        "a cluster has only database 0");
    refused(RedisIndexOptions.sentinel("m", List.of("unix:///a")), "must be at redis://");
    refused(RedisIndexOptions.single("a").trust(new PemTrustOptions()), "only rediss://");
    refused(RedisIndexOptions.single("redis://:x@a").credentials(null, "y"), "give one of them");
    assertThatThrownBy(() -> RedisIndexOptions.single("a").lookupTimeout(Duration.ZERO))
        .hasMessage("lookupTimeout is PT0S, but must be from 1 ms to PT1M");
    assertThatThrownBy(() -> RedisIndexOptions.single("a").lookupConnections(0))
        .hasMessage("lookupConnections is 0, but must be from 1 to 64");
    assertThatThrownBy(() -> RedisIndexOptions.single("a").maxPendingCommands(1))
        .hasMessageContaining("must be from 1024");
  }

  private static void refused(RedisIndexOptions.Builder options, String why) {
    assertThatThrownBy(options::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
  }
}
