package io.inferspan.privacy;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The failure descriptions that were passed to the spans of one {@code Telemetry}. Only these are
 * exported as a status description, because other code usually sets an exception's message there.
 *
 * <p>A privacy guard may wrap an exporter that belongs to no {@code Telemetry}, so it accepts the
 * descriptions of all instances.
 */
public final class FailureTexts {

  /** The maximum number of descriptions; further ones are dropped and counted. */
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

  /** Allows the export of {@code text} from now on, if there is room. */
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

  /** Returns how many failures had a description beyond the limits, which is not exported. */
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
