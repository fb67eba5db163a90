package io.inferspan.propagation;

import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Creates and validates the id of a request in the logs of gateway, sidecar and engine. */
public final class RequestId {

  /** The header that contains the id. */
  public static final String HEADER = "x-request-id";

  private RequestId() {}

  /** Returns the received id if it is well-formed, else a random one. */
  public static String of(@Nullable String received) {
    return received != null && isWellFormed(received) ? received : random();
  }

  /** Returns whether an id is not empty and consists of visible ASCII characters. */
  public static boolean isWellFormed(String id) {
    for (int i = 0; i < id.length(); i++) {
      if (id.charAt(i) <= ' ' || id.charAt(i) > '~') {
        return false;
      }
    }
    return !id.isEmpty();
  }

  /** Returns a random UUID. It is unique, but not a secret. */
  public static String random() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    long version4 = (random.nextLong() & ~0xF000L) | 0x4000L;
    long variant2 = (random.nextLong() >>> 2) | Long.MIN_VALUE;
    return new UUID(version4, variant2).toString();
  }
}
