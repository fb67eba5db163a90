package io.inferspan.pd.config.text;

/** Quotes external text for a message, on one line and limited in length. */
public final class Quoted {

  private static final int MAX_LENGTH = 80;

  private Quoted() {}

  /** Returns {@code text} in quotation marks. */
  public static String text(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < Math.min(text.length(), MAX_LENGTH); i++) {
      char c = text.charAt(i);
      quoted.append(Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? '?' : c);
    }
    return quoted.append(text.length() > MAX_LENGTH ? "…\"" : "\"").toString();
  }
}
