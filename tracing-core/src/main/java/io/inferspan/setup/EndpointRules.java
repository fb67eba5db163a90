package io.inferspan.setup;

import org.jspecify.annotations.Nullable;

/**
 * How the OTLP endpoint and the {@code INSECURE} switch go together, as the specification has it
 * and the Java SDK does not.
 */
final class EndpointRules {

  private static final String GENERAL = "otel.exporter.otlp.";
  private static final String TRACES = "otel.exporter.otlp.traces.";
  private static final String HTTPS = "https://";
  private static final String HTTP = "http://";

  private EndpointRules() {}

  static void apply(Corrections corrections) {
    Boolean insecure = corrections.config().getBoolean(TRACES + "insecure");
    if (insecure == null) {
      insecure = corrections.config().getBoolean(GENERAL + "insecure");
    }
    apply(corrections, GENERAL + "endpoint", insecure);
    apply(corrections, TRACES + "endpoint", insecure);
    if (!isSet(corrections, "endpoint") && asksForTls(corrections, insecure)) {
      boolean http = ExporterRules.protocol(corrections).equals(ExporterRules.HTTP);
      corrections.replace(GENERAL + "endpoint", "https://localhost:" + (http ? 4318 : 4317));
    }
  }

  /** Plain text to this host is the default only where nothing was said about the transport. */
  private static boolean asksForTls(Corrections corrections, @Nullable Boolean insecure) {
    return insecure == null ? isSet(corrections, "certificate") : !insecure;
  }

  private static boolean isSet(Corrections corrections, String setting) {
    return corrections.config().getString(GENERAL + setting) != null
        || corrections.config().getString(TRACES + setting) != null;
  }

  private static void apply(Corrections corrections, String property, @Nullable Boolean insecure) {
    String endpoint = corrections.config().getString(property);
    if (endpoint == null) {
      return;
    }
    String effective = effective(endpoint.strip(), insecure);
    if (!effective.equals(endpoint)) {
      corrections.replace(property, effective);
    }
  }

  /** Insecure beats a scheme of https; where there is no scheme, it alone decides. */
  static String effective(String endpoint, @Nullable Boolean insecure) {
    boolean plaintext = insecure != null && insecure;
    if (endpoint.regionMatches(true, 0, HTTPS, 0, HTTPS.length())) {
      return plaintext ? HTTP + endpoint.substring(HTTPS.length()) : endpoint;
    }
    if (endpoint.contains("://")) {
      return endpoint;
    }
    return (plaintext ? HTTP : HTTPS) + endpoint;
  }
}
