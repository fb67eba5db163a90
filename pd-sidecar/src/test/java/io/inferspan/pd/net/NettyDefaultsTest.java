package io.inferspan.pd.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.uring.IoUring;
import org.junit.jupiter.api.Test;

final class NettyDefaultsTest {

  @Test
  void ioUring_doesNotUseMultishotPolls() {
    NettyDefaults.set();

    assertThat(IoUring.isPollAddMultishotEnabled()).isFalse();
  }
}
