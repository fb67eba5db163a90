package io.inferspan.testing;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * A random marker for tests that check that secrets do not leak. Put it into prompts, completions
 * or credentials, and search for it in output that must not contain them.
 *
 * <pre>{@code
 * Canary canary = Canary.random();
 * canary.planted().forEach(gateway::send);
 * canary.assertAbsentFrom(receiver.rawBodies());
 * }</pre>
 *
 * <p>The search finds any {@value #WINDOW} consecutive characters of the marker, so it also finds a
 * truncated or wrapped marker. It ignores case and decodes UTF-8, UTF-16LE, hex, base64 (both
 * alphabets, at any alignment) and percent-encoding, but not compressed, encrypted or hashed data.
 */
public final class Canary {
  /** The number of consecutive characters of the marker that count as a leak. */
  public static final int WINDOW = 12;

  private static final int MARKER_CHARS = 36;
  private static final int SHOWN_BYTES = 40;
  private static final String ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String marker;
  private final List<String> windows;

  private Canary(String marker) {
    this.marker = marker;
    this.windows =
        IntStream.rangeClosed(0, MARKER_CHARS - WINDOW)
            .mapToObj(from -> marker.substring(from, from + WINDOW))
            .toList();
  }

  /** Returns a new canary with a random marker. */
  public static Canary random() {
    StringBuilder marker = new StringBuilder();
    for (int i = 0; i < MARKER_CHARS; i++) {
      marker.append(ALPHABET.charAt(RANDOM.nextInt(ALPHABET.length())));
    }
    return new Canary(marker.toString());
  }

  /** Returns the marker, which consists of lower-case letters and digits. */
  public String marker() {
    return marker;
  }

  /**
   * Returns strings that contain the marker, to use as secrets: the marker alone, in capitals, in a
   * sentence, among characters that JSON must escape, next to multi-byte characters, and twice.
   */
  public List<String> planted() {
    return List.of(
        marker,
        marker.toUpperCase(Locale.ROOT),
        "My password is " + marker + ", do not tell anyone.",
        "{\"key\": \"" + marker + "\"}\n\\" + marker + "\t",
        "密码" + marker + "ключ🔑",
        marker + " " + marker);
  }

  /**
   * Checks that no byte array contains part of the marker; a failure reports where, in which
   * encoding, and the surrounding bytes.
   */
  public void assertAbsentFrom(byte[]... arrays) {
    assertAbsentFrom(Arrays.asList(arrays));
  }

  /**
   * Checks that no byte array contains part of the marker; a failure reports where, in which
   * encoding, and the surrounding bytes.
   */
  public void assertAbsentFrom(Iterable<byte[]> arrays) {
    List<String> leaks = new ArrayList<>();
    int index = 0;
    for (byte[] array : arrays) {
      for (EncodedView view : EncodedView.all(array)) {
        int found = find(view.bytes());
        if (found >= 0) {
          leaks.add(describe(index, array, view, found));
        }
      }
      index++;
    }
    if (!leaks.isEmpty()) {
      throw new AssertionError(
          "the canary " + marker + " leaked:\n  " + String.join("\n  ", leaks));
    }
  }

  /** Returns the index of the first window of the marker, in any letter case, or -1. */
  private int find(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
    return windows.stream().mapToInt(text::indexOf).filter(at -> at >= 0).min().orElse(-1);
  }

  private static String describe(int index, byte[] array, EncodedView view, int found) {
    int at = view.origin(found);
    String fragment = new String(view.bytes(), found, WINDOW, StandardCharsets.ISO_8859_1);
    int from = Math.max(0, Math.min(at - SHOWN_BYTES / 4, array.length - SHOWN_BYTES));
    return "array %d (of %d bytes), at byte %d as %s: %s in \"%s\""
        .formatted(
            index,
            array.length,
            at,
            view.form(),
            fragment,
            Printable.of(array, from, from + SHOWN_BYTES));
  }
}
