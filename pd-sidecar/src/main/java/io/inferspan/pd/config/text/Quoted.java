package io.inferspan.pd.config.text;

/** Text from outside, quoted for a message: bounded, on one line. */
public final class Quoted {

  private static final int MAX_LENGTH = 80;

  private Quoted() {}

  /** {@code text} in quotation marks. */
  public static String text(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < Math.min(text.length(), MAX_LENGTH); i++) {
      char c = text.charAt(i);
      quoted.append(Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? '?' : c);
    }
    return quoted.append(text.length() > MAX_LENGTH ? "…\"" : "\"").toString();
  }
}
