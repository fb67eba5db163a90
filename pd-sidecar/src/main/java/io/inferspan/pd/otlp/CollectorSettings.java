package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.GrpcSenderConfig;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.ProxyOptions;
import io.vertx.core.net.ProxyType;
import io.vertx.core.tracing.TracingPolicy;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Where a collector is and how it is spoken to; what the two senders' configurations have in
 * common.
 *
 * @param target the URI of each call
 * @param version HTTP/2 for gRPC, else HTTP/1.1
 * @param limits how long a call and its parts may take, and how large an answer may be
 * @param retryPolicy when to call again, or null for never
 * @param tls what to show to a TLS collector and whom to trust
 * @param proxy what stands between, or null
 * @param callbacks runs what the exporter does with an answer, or null for a thread of ours
 */
record CollectorSettings(
    URI target,
    HttpVersion version,
    Limits limits,
    @Nullable RetryPolicy retryPolicy,
    Tls tls,
    @Nullable ProxyOptions proxy,
    @Nullable ExecutorService callbacks) {

  private static final String TLS_SCHEME = "https";
  private static final Pattern AUTHORITY =
      Pattern.compile("(?:.*@)?(?<host>\\[[^]]+]|[^:@]+)(?::(?<port>\\d{1,5}))?");

  /** Checks that there is somewhere to send to. */
  CollectorSettings {
    authority(target);
  }

  /**
   * Bounds of a call.
   *
   * @param timeout for all of it, repetitions included
   * @param connectTimeout for making a connection
   * @param responseBytes of an answer's body
   */
  record Limits(Duration timeout, Duration connectTimeout, long responseBytes) {}

  /**
   * What TLS needs.
   *
   * @param context key and trust, or null for the process's default
   * @param protocols the protocol versions allowed, or null for the default
   */
  record Tls(@Nullable SSLContext context, @Nullable List<String> protocols) {}

  static CollectorSettings of(GrpcSenderConfig config) {
    return new CollectorSettings(
        config.getEndpoint().resolve("/" + config.getFullMethodName()),
        HttpVersion.HTTP_2,
        new Limits(
            config.getTimeout(), config.getConnectTimeout(), config.getMaxResponseBodySize()),
        config.getRetryPolicy(),
        new Tls(config.getSslContext(), config.getEnabledProtocols()),
        null,
        config.getExecutorService());
  }

  static CollectorSettings of(HttpSenderConfig config) {
    return new CollectorSettings(
        config.getEndpoint(),
        HttpVersion.HTTP_1_1,
        new Limits(
            config.getTimeout(), config.getConnectTimeout(), config.getMaxResponseBodySize()),
        config.getRetryPolicy(),
        new Tls(config.getSslContext(), config.getEnabledProtocols()),
        proxy(config),
        config.getExecutorService());
  }

  private static @Nullable ProxyOptions proxy(HttpSenderConfig config) {
    if (config.getProxyOptions() == null) {
      return null;
    }
    for (Proxy proxy : config.getProxyOptions().getProxySelector().select(config.getEndpoint())) {
      if (proxy.address() instanceof InetSocketAddress address) {
        ProxyType type = proxy.type() == Proxy.Type.SOCKS ? ProxyType.SOCKS5 : ProxyType.HTTP;
        return new ProxyOptions()
            .setType(type)
            .setHost(address.getHostString())
            .setPort(address.getPort());
      }
    }
    return null;
  }

  boolean secure() {
    return TLS_SCHEME.equalsIgnoreCase(target.getScheme());
  }

  /** The name or address of the collector. */
  String host() {
    return authority(target).group("host").replaceAll("[\\[\\]]", "");
  }

  int port() {
    String port = authority(target).group("port");
    return port != null ? Integer.parseInt(port) : secure() ? 443 : 80;
  }

  /** Not read by {@link URI}, which knows no host with an underscore; container names have them. */
  private static Matcher authority(URI target) {
    String authority = target.getRawAuthority();
    Matcher matcher = AUTHORITY.matcher(authority == null ? "" : authority);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "The OTLP endpoint is " + shown(target) + ", but must be like http://host:4317");
    }
    return matcher;
  }

  /** Without a password that somebody put into it. */
  private static String shown(URI target) {
    return target.toString().replaceFirst("//[^/]*@", "//");
  }

  String pathAndQuery() {
    String path = target.getRawPath();
    String query = target.getRawQuery();
    return (path == null || path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
  }

  /** How the client must be set up; exporting is not traced. */
  HttpClientOptions clientOptions() {
    HttpClientOptions options =
        new HttpClientOptions()
            .setProtocolVersion(version)
            .setHttp2ClearTextUpgrade(false)
            .setConnectTimeout(millis(limits.connectTimeout()))
            .setTracingPolicy(TracingPolicy.IGNORE);
    if (proxy != null) {
      options.setProxyOptions(proxy);
    }
    return secure() ? withTls(options) : options;
  }

  private HttpClientOptions withTls(HttpClientOptions options) {
    if (tls.protocols() != null && !tls.protocols().isEmpty()) {
      options.setEnabledSecureTransportProtocols(new LinkedHashSet<>(tls.protocols()));
    }
    options
        .setSsl(true)
        .setUseAlpn(true)
        .setAlpnVersions(List.of(version))
        .setSslHandshakeTimeout(millis(limits.connectTimeout()))
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
        .setSslEngineOptions(new GivenSslContext(tls.context()));
    return options;
  }

  /** Zero means no bound to OpenTelemetry, which Vert.x does not offer here. */
  private static int millis(Duration duration) {
    long millis = duration.toMillis();
    return millis <= 0 ? Integer.MAX_VALUE : (int) Math.min(millis, Integer.MAX_VALUE);
  }
}
