package io.inferspan.kvcache.redis;

import io.inferspan.kvcache.index.BlockIndex;
import io.inferspan.kvcache.index.BlockIndexContract;
import java.util.List;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract, with each installed server. */
@ParameterizedClass(allowZeroInvocations = true)
@MethodSource("io.inferspan.kvcache.redis.RedisServer#installed")
class RedisBlockIndexTest extends BlockIndexContract {

  @SuppressWarnings("NullAway.Init")
  private static RedisServer server;

  @SuppressWarnings("NullAway.Init")
  @Parameter
  String binary;

  @BeforeParameterizedClassInvocation
  static void startServer(String binary) {
    server = RedisServer.start(binary, List.of());
  }

  @AfterParameterizedClassInvocation
  static void stopServer() {
    server.close();
  }

  @Override
  protected BlockIndex newIndex() {
    try (RawRedis raw = server.connect()) {
      raw.send("FLUSHALL");
    }
    return RedisBlockIndex.open(RedisLayoutTest.patient(server));
  }

  @Override
  protected boolean stopsAtAGap() {
    return true;
  }
}
