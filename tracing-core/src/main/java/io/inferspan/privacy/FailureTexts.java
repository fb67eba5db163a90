package io.inferspan.privacy;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sentences with which our callers describe failures, which may leave as the status of a span.
 *
 * <p>Whoever else sets a status usually sets the message of an exception. The sentences are kept
 * for the process, because a guard may stand before an exporter that no telemetry knows of.
 */
public final class FailureTexts {

  /** Callers describe failures in few words; a sentence past this many is not sent. */
  static final int MAX_TEXTS = 1_000;

  static final int MAX_CHARS = 1_024;

  private static final Set<String> KNOWN = ConcurrentHashMap.newKeySet();

  private FailureTexts() {}

  /** Lets {@code text} out from now on. */
  public static void remember(String text) {
    if (KNOWN.size() < MAX_TEXTS && text.length() <= MAX_CHARS) {
      KNOWN.add(text);
    }
  }

  static boolean isKnown(String text) {
    return text.isEmpty() || KNOWN.contains(text);
  }
}
