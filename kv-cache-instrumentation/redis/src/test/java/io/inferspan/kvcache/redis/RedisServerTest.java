package io.inferspan.kvcache.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisServerTest {

  @BeforeEach
  void needsServer() {
    assumeFalse(RedisServer.installed().isEmpty(), RedisServer.MISSING);
  }

  @Test
  void killedServer_comesBackEmptyOnItsPort() {
    try (RedisServer server = RedisServer.start()) {
      try (RawRedis raw = server.connect()) {
        assertThat(raw.send("SET", "a", "b")).containsExactly("OK");
        assertThat(raw.keys()).containsExactly("a");
        server.kill();
        assertThatThrownBy(raw::keys).isInstanceOf(UncheckedIOException.class);
      }
      server.restart();
      try (RawRedis raw = server.connect()) {
        assertThat(raw.keys()).isEmpty();
      }
    }
  }

  @Test
  void closedServer_leavesNoFile() {
    RedisServer server = RedisServer.start();
    assertThat(server.socket()).exists();
    server.close();
    assertThat(Files.exists(server.socket().getParent())).isFalse();
  }
}
