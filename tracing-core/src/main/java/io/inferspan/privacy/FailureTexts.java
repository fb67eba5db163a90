package io.inferspan.privacy;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The sentences with which the callers of one telemetry describe failures. Only these may leave as
 * the status of a span, because other code usually sets the message of an exception.
 *
 * <p>A guard may stand before an exporter that belongs to no telemetry, so it accepts the sentences
 * of all that exist.
 */
public final class FailureTexts {

  /** Callers describe failures in few words; further sentences are left out and counted. */
  static final int MAX_TEXTS = 1_000;

  static final int MAX_CHARS = 1_024;

  private static final Set<FailureTexts> ALL =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private final Set<String> known = ConcurrentHashMap.newKeySet();
  private final LongAdder leftOut = new LongAdder();

  /** Creates an empty set. */
  public FailureTexts() {
    ALL.add(this);
  }

  /** Lets {@code text} out from now on, if there is room. */
  public void remember(String text) {
    if (known.contains(text)) {
      return;
    }
    if (known.size() < MAX_TEXTS && text.length() <= MAX_CHARS) {
      known.add(text);
    } else {
      leftOut.increment();
    }
  }

  /** Returns how many failures lost their description because of the limit on number or length. */
  public long leftOut() {
    return leftOut.sum();
  }

  static boolean isKnown(String text) {
    if (text.isEmpty()) {
      return true;
    }
    synchronized (ALL) {
      return ALL.stream().anyMatch(texts -> texts.known.contains(text));
    }
  }
}
