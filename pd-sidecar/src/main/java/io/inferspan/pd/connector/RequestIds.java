package io.inferspan.pd.connector;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Generates the ids that connect the stages of a request. */
public final class RequestIds {
  private static final long NANOS_PER_TICK = 100;
  private static final long TICKS_FROM_1582_TO_1970 = 0x01b21dd213814000L;
  private static final long VERSION_1 = 0x1000;
  private static final long VARIANT = 0x8000_0000_0000_0000L;
  private static final long LOW_62_BITS = 0x3fff_ffff_ffff_ffffL;
  private static final long MULTICAST = 0x0000_0100_0000_0000L;

  // Clock sequence and node: random, and marked as not a real network address.
  private static final long NODE =
      (new SecureRandom().nextLong() & LOW_62_BITS) | VARIANT | MULTICAST;
  private static final AtomicLong LAST_TICK = new AtomicLong();

  private RequestIds() {}

  /** Returns a unique UUID of version 1, like those of llm-d's sidecar. */
  public static UUID timeBased() {
    long now = System.currentTimeMillis() * (1_000_000 / NANOS_PER_TICK) + TICKS_FROM_1582_TO_1970;
    long tick = LAST_TICK.updateAndGet(last -> Math.max(last + 1, now));
    long high = tick << 32 | (tick >>> 16 & 0xffff_0000L) | VERSION_1 | (tick >>> 48 & 0x0fff);
    return new UUID(high, NODE);
  }
}
