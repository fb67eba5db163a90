package io.inferspan.propagation;

/**
 * Whether a {@code baggage} header is one that OpenTelemetry's parser takes without complaint.
 *
 * <p>It logs a warning for others, and a client must not be able to fill our host's log.
 */
final class BaggageSyntax {

  private BaggageSyntax() {}

  /** Visible ASCII without quotes and backslashes, and every percent sign an escape. */
  static boolean isPlain(String header) {
    for (int i = 0; i < header.length(); i++) {
      char c = header.charAt(i);
      boolean visible = c == '\t' || (c >= ' ' && c < 0x7f);
      if (!visible || c == '"' || c == '\\' || (c == '%' && !isEscape(header, i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isEscape(String header, int percent) {
    return percent + 2 < header.length()
        && Character.digit(header.charAt(percent + 1), 16) >= 0
        && Character.digit(header.charAt(percent + 2), 16) >= 0;
  }
}
