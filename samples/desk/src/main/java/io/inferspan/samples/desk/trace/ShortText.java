package io.inferspan.samples.desk.trace;

/** Shortens texts from traces. */
final class ShortText {

  private ShortText() {}

  /** Returns the text, truncated to the maximum length. */
  static String of(String text, int maxLength) {
    if (text.length() <= maxLength) {
      return text;
    }
    boolean split = Character.isHighSurrogate(text.charAt(maxLength - 1));
    return text.substring(0, split ? maxLength - 1 : maxLength) + "…";
  }
}
