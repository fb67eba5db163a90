package io.inferspan.pd;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The formats that a scraper accepts.
 *
 * @param openMetrics whether it accepts OpenMetrics, the only format with exemplars
 * @param gzip whether it accepts gzip
 */
record AcceptHeader(boolean openMetrics, boolean gzip) {

  private static final String OPEN_METRICS = "application/openmetrics-text";
  private static final String TEXT = "text/plain";

  /** Reads the headers {@code Accept} and {@code Accept-Encoding}. */
  static AcceptHeader of(@Nullable String accept, @Nullable String acceptEncoding) {
    double openMetrics = quality(accept, OPEN_METRICS);
    boolean preferred = openMetrics > 0 && openMetrics >= quality(accept, TEXT);
    return new AcceptHeader(preferred, quality(acceptEncoding, "gzip") > 0);
  }

  String contentType() {
    return openMetrics
        ? OPEN_METRICS + "; version=1.0.0; charset=utf-8"
        : TEXT + "; version=0.0.4; charset=utf-8";
  }

  /** Returns the highest quality of exactly this name in a header; 0 if it is absent. */
  private static double quality(@Nullable String header, String name) {
    double best = 0;
    if (header != null) {
      for (String range : header.toLowerCase(Locale.ROOT).split(",", -1)) {
        String[] parts = range.split(";", -1);
        if (parts[0].strip().equals(name)) {
          best = Math.max(best, quality(parts));
        }
      }
    }
    return best;
  }

  private static double quality(String[] parts) {
    for (String part : parts) {
      if (part.strip().startsWith("q=")) {
        try {
          return Double.parseDouble(part.strip().substring(2).strip());
        } catch (NumberFormatException e) {
          return 0;
        }
      }
    }
    return 1;
  }
}
