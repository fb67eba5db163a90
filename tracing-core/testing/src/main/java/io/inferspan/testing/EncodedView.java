package io.inferspan.testing;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * Bytes decoded from some encoding, with a mapping to their original positions.
 *
 * <p>The data is decoded, rather than the search term encoded, to find any part of a text in any
 * case. Since encoded text may begin anywhere, fixed-width encodings are decoded at every
 * alignment. Invalid bytes decode to zero bytes, which are never searched for.
 *
 * @param form the name of the encoding
 * @param bytes the decoded bytes
 * @param origins for each decoded byte, the index of the first byte it was decoded from
 */
@SuppressWarnings("ArrayRecordComponent") // views are never compared
record EncodedView(String form, byte[] bytes, IntUnaryOperator origins) {
  private static final String BASE64_DIGITS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  int origin(int index) {
    return origins.applyAsInt(index);
  }

  static List<EncodedView> all(byte[] data) {
    List<EncodedView> views = new ArrayList<>();
    views.add(new EncodedView("UTF-8", data, i -> i));
    views.add(percentDecoded(data));
    for (int start = 0; start < 2; start++) {
      views.add(utf16(data, start));
      views.add(hex(data, start));
    }
    for (int start = 0; start < 4; start++) {
      views.add(base64(data, start));
    }
    return views;
  }

  private static EncodedView percentDecoded(byte[] data) {
    byte[] decoded = new byte[data.length];
    int[] origins = new int[data.length];
    int length = 0;
    for (int i = 0; i < data.length; length++) {
      origins[length] = i;
      int value = data[i] == '%' && i + 2 < data.length ? hexByte(data, i + 1) : -1;
      decoded[length] = value >= 0 ? (byte) value : data[i];
      i += value >= 0 ? 3 : 1;
    }
    return new EncodedView("percent-encoded", Arrays.copyOf(decoded, length), i -> origins[i]);
  }

  private static EncodedView utf16(byte[] data, int start) {
    return ofPairs("UTF-16LE", data, start, at -> data[at + 1] == 0 ? data[at] : 0);
  }

  private static EncodedView hex(byte[] data, int start) {
    return ofPairs("hex", data, start, at -> Math.max(0, hexByte(data, at)));
  }

  private static EncodedView ofPairs(String form, byte[] data, int start, IntUnaryOperator byteAt) {
    byte[] decoded = new byte[Math.max(0, data.length - start) / 2];
    for (int i = 0; i < decoded.length; i++) {
      decoded[i] = (byte) byteAt.applyAsInt(start + 2 * i);
    }
    return new EncodedView(form, decoded, i -> start + 2 * i);
  }

  private static EncodedView base64(byte[] data, int start) {
    int groups = (Math.max(0, data.length - start) + 3) / 4;
    byte[] decoded = new byte[groups * 3];
    for (int group = 0; group < groups; group++) {
      for (int k = 0; k < 3; k++) {
        int at = start + 4 * group + k;
        // Each byte needs only two of the four digits, so a truncated group is decoded in part.
        int high = at + 1 < data.length ? base64Digit(data[at]) : -1;
        int low = at + 1 < data.length ? base64Digit(data[at + 1]) : -1;
        boolean isByte = high >= 0 && low >= 0;
        decoded[3 * group + k] = isByte ? (byte) (high << (2 + 2 * k) | low >> (4 - 2 * k)) : 0;
      }
    }
    return new EncodedView("base64", decoded, i -> start + 4 * (i / 3) + i % 3);
  }

  private static int hexByte(byte[] data, int at) {
    int high = Character.digit(data[at], 16);
    int low = Character.digit(data[at + 1], 16);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }

  /** Returns the value of a digit of either alphabet, or -1. */
  private static int base64Digit(byte b) {
    return BASE64_DIGITS.indexOf(b == '-' ? '+' : b == '_' ? '/' : b);
  }
}
