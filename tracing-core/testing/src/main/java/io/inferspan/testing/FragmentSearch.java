package io.inferspan.testing;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * Searches bytes for any part of a marker that has a given length (a window), in any letter case
 * and in one pass.
 */
final class FragmentSearch {
  private static final int PREFILTER_SIZE = 1 << 16;

  private final int window;
  private final Set<String> windows = new HashSet<>();
  // Indexed by the last two bytes of a window; rejects nearly every position.
  private final boolean[] isLastPair = new boolean[PREFILTER_SIZE];

  FragmentSearch(String marker, int window) {
    this.window = window;
    String folded = marker.toLowerCase(Locale.ROOT);
    for (int i = 0; i + window <= folded.length(); i++) {
      String part = folded.substring(i, i + window);
      windows.add(part);
      isLastPair[part.charAt(window - 2) << 8 | part.charAt(window - 1)] = true;
    }
  }

  /** Returns the index of the first window of the marker in the bytes, or -1. */
  int find(byte[] bytes) {
    int previous = 0;
    for (int i = 0; i < bytes.length; i++) {
      int folded = fold(bytes[i]);
      if (isLastPair[previous << 8 | folded] && i >= window - 1 && isWindow(bytes, i)) {
        return i - window + 1;
      }
      previous = folded;
    }
    return -1;
  }

  private boolean isWindow(byte[] bytes, int last) {
    int from = last - window + 1;
    String candidate = new String(bytes, from, window, StandardCharsets.ISO_8859_1);
    return windows.contains(candidate.toLowerCase(Locale.ROOT));
  }

  private static int fold(byte b) {
    return b >= 'A' && b <= 'Z' ? b + 32 : b & 0xff;
  }
}
