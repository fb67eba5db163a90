package io.inferspan.setup;

import io.inferspan.exporter.ConsoleExporterProvider;
import io.inferspan.exporter.OtlpFileExporterProvider;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.common.export.GrpcSenderProvider;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks and corrects the settings of exporters, OTLP endpoints, protocols and headers. */
final class ExporterRules {

  static final String EXPORTER = "otel.traces.exporter";
  private static final String GENERAL = "otel.exporter.otlp.";
  private static final String TRACES = "otel.exporter.otlp.traces.";
  private static final String PROTOCOL = GENERAL + "protocol";
  static final String TRACES_PROTOCOL = TRACES + "protocol";
  private static final String TLS = "https://";
  private static final String PLAIN = "http://";

  static final String OTLP = "otlp";
  static final String CONSOLE = "console";
  private static final String NONE = "none";
  private static final String GRPC = "grpc";
  static final String HTTP = "http/protobuf";

  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
  private static final Pattern VALUE = Pattern.compile("[\\t -~]*");

  /** The headers that the JDK's HTTP client refuses, unless {@link #JDK_ALLOWS} is set. */
  private static final Set<String> REFUSED_BY_JDK =
      Set.of("connection", "content-length", "expect", "host", "upgrade");

  private static final String JDK_ALLOWS = "jdk.httpclient.allowRestrictedHeaders";

  private ExporterRules() {}

  static void apply(Corrections corrections) {
    chooseExporters(corrections);
    correctEndpoint(corrections);
    for (String property : List.of(GENERAL + "headers", TRACES + "headers")) {
      correctHeaders(corrections, property, corrections.config().getMap(property));
    }
  }

  private static void chooseExporters(Corrections corrections) {
    List<String> names = corrections.config().getList(EXPORTER);
    ComponentLoader plugins = corrections.config().getComponentLoader();
    Set<String> known = known(plugins);
    Set<String> used = new LinkedHashSet<>();
    boolean unknown = false;
    for (String name : names) {
      unknown |= !known.contains(name);
      used.add(known.contains(name) ? exporterName(name) : OTLP);
    }
    if (used.contains(NONE) && used.size() > 1) {
      corrections.replace(EXPORTER, NONE, "none alone, or other exporters");
    } else if (unknown) {
      corrections.replace(EXPORTER, String.join(",", used), "otlp, otlp_file, console or none");
    } else if (names.contains(CONSOLE)) {
      corrections.replace(EXPORTER, String.join(",", used));
    }
    if (used.isEmpty() || used.contains(OTLP)) {
      corrections.replace(TRACES_PROTOCOL, supported(corrections));
    }
  }

  private static String supported(Corrections corrections) {
    String protocol = protocol(corrections);
    if (!protocol.equals(GRPC) && !protocol.equals(HTTP)) {
      boolean traces = protocol.equals(corrections.config().getString(TRACES_PROTOCOL));
      throw new ConfigurationException(
          "%s is '%s', but must be grpc or http/protobuf"
              .formatted(Settings.environmentName(traces ? TRACES_PROTOCOL : PROTOCOL), protocol));
    }
    return protocol;
  }

  private static Set<String> known(ComponentLoader plugins) {
    Set<String> known = new LinkedHashSet<>();
    known.addAll(List.of(OTLP, OtlpFileExporterProvider.NAME, CONSOLE, NONE));
    for (ConfigurableSpanExporterProvider provider :
        plugins.load(ConfigurableSpanExporterProvider.class)) {
      known.add(provider.getName());
    }
    return known;
  }

  private static String exporterName(String name) {
    return name.equals(CONSOLE) ? ConsoleExporterProvider.NAME : name;
  }

  /**
   * Returns the configured protocol. The default is gRPC, or HTTP if there is only an HTTP sender.
   */
  static String protocol(Corrections corrections) {
    String chosen = corrections.config().getString(TRACES_PROTOCOL);
    if (chosen == null) {
      chosen = corrections.config().getString(PROTOCOL);
    }
    if (chosen != null) {
      return chosen;
    }
    ComponentLoader plugins = corrections.config().getComponentLoader();
    boolean grpc = plugins.load(GrpcSenderProvider.class).iterator().hasNext();
    boolean http = plugins.load(HttpSenderProvider.class).iterator().hasNext();
    return grpc || !http ? GRPC : HTTP;
  }

  /**
   * Combines the endpoint and the {@code INSECURE} setting according to the specification, which
   * the Java SDK does not do.
   */
  private static void correctEndpoint(Corrections corrections) {
    Boolean insecure = corrections.config().getBoolean(TRACES + "insecure");
    if (insecure == null) {
      insecure = corrections.config().getBoolean(GENERAL + "insecure");
    }
    correctEndpoint(corrections, GENERAL + "endpoint", insecure);
    correctEndpoint(corrections, TRACES + "endpoint", insecure);
    if (!isSet(corrections, "endpoint") && requiresTls(corrections, insecure)) {
      boolean http = protocol(corrections).equals(HTTP);
      corrections.replace(GENERAL + "endpoint", "https://localhost:" + (http ? 4318 : 4317));
    }
  }

  /**
   * Returns whether the default endpoint uses TLS: the insecure setting decides or, without it,
   * whether a certificate is set.
   */
  private static boolean requiresTls(Corrections corrections, @Nullable Boolean insecure) {
    return insecure == null ? isSet(corrections, "certificate") : !insecure;
  }

  private static boolean isSet(Corrections corrections, String setting) {
    return corrections.config().getString(GENERAL + setting) != null
        || corrections.config().getString(TRACES + setting) != null;
  }

  private static void correctEndpoint(
      Corrections corrections, String property, @Nullable Boolean insecure) {
    String endpoint = corrections.config().getString(property);
    if (endpoint == null) {
      return;
    }
    String effective = effective(endpoint.strip(), insecure);
    if (!effective.equals(endpoint)) {
      corrections.replace(property, effective);
    }
  }

  /** Returns the endpoint with its effective scheme. {@code insecure} overrides {@code https}. */
  static String effective(String endpoint, @Nullable Boolean insecure) {
    boolean plaintext = insecure != null && insecure;
    if (endpoint.regionMatches(true, 0, TLS, 0, TLS.length())) {
      return plaintext ? PLAIN + endpoint.substring(TLS.length()) : endpoint;
    }
    if (endpoint.contains("://")) {
      return endpoint;
    }
    return (plaintext ? PLAIN : TLS) + endpoint;
  }

  /**
   * Rejects headers that cannot be sent, so that startup fails and not every export. Escapes plus
   * signs, which the Java SDK would decode as spaces, unlike the specification. Base64 credentials
   * contain them.
   */
  private static void correctHeaders(
      Corrections corrections, String property, Map<String, String> headers) {
    List<String> escaped = new ArrayList<>();
    boolean jdk = !headers.isEmpty() && isSentByJdk(corrections);
    headers.forEach(
        (name, value) -> {
          if (jdk && REFUSED_BY_JDK.contains(name.toLowerCase(Locale.ROOT))) {
            throw new ConfigurationException(
                "%s sets the header '%s', which the JDK's HTTP client refuses; remove it"
                    .formatted(Settings.environmentName(property), name));
          }
          if (!TOKEN.matcher(name).matches() || !VALUE.matcher(decoded(value)).matches()) {
            // The message omits the value, which is usually a credential.
            throw new ConfigurationException(
                "%s has a character that cannot be sent, such as a line break, in the header '%s';"
                        .formatted(
                            Settings.environmentName(property), name.replaceAll("[^!-~]", "?"))
                    + " names must be HTTP tokens, values ASCII");
          }
          escaped.add(name + "=" + value.replace("+", "%2B"));
        });
    if (!headers.isEmpty()) {
      corrections.replace(property, String.join(",", escaped));
    }
  }

  private static boolean isSentByJdk(Corrections corrections) {
    Iterator<HttpSenderProvider> senders =
        corrections.config().getComponentLoader().load(HttpSenderProvider.class).iterator();
    return protocol(corrections).equals(HTTP)
        && System.getProperty(JDK_ALLOWS) == null
        && senders.hasNext()
        && senders.next().getClass().getSimpleName().startsWith("Jdk");
  }

  /** Returns the value as the SDK sends it: URL-decoded, if it can be decoded. */
  private static String decoded(String value) {
    try {
      return URLDecoder.decode(value, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return value;
    }
  }
}
