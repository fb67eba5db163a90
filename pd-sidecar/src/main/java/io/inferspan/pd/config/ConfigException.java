package io.inferspan.pd.config;

/**
 * Reports an invalid configuration. The message is one sentence: the value, its source, and what is
 * allowed.
 */
public final class ConfigException extends Exception {
  private static final int MAX_LENGTH = 80;

  ConfigException(String sentence) {
    super(sentence, null, false, false);
  }

  /** Returns the exception for a value that is not allowed. */
  static ConfigException refused(Setting<?> setting, String allowed, String text, String origin) {
    return new ConfigException(
        "%s must be %s, but is %s (from %s)".formatted(setting.key, allowed, quoted(text), origin));
  }

  /** Quotes external text for a message, on one line and limited in length. */
  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < Math.min(text.length(), MAX_LENGTH); i++) {
      char c = text.charAt(i);
      quoted.append(Character.isISOControl(c) || c == '\u2028' || c == '\u2029' ? '?' : c);
    }
    return quoted.append(text.length() > MAX_LENGTH ? "…\"" : "\"").toString();
  }
}
