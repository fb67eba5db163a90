package io.inferspan.pd.net;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * TLS for one kind of upstream server: the trusted CAs, and the server name to send.
 *
 * <p>Engines speak HTTP/1.1, so no protocol is negotiated.
 */
public final class UpstreamTls {
  private static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

  private final SslContext context;

  private UpstreamTls(SslContext context) {
    this.context = context;
  }

  /**
   * Returns a configuration that verifies the certificate and its host name.
   *
   * @param authorities a PEM file with the authorities to trust; null for the Java runtime's
   * @throws IllegalArgumentException with one sentence, if the file cannot be used
   */
  public static UpstreamTls verifying(@Nullable Path authorities) {
    SslContextBuilder builder = client().endpointIdentificationAlgorithm("HTTPS");
    if (authorities == null) {
      return new UpstreamTls(build(builder));
    }
    try (InputStream pem = Files.newInputStream(authorities)) {
      return new UpstreamTls(build(builder.trustManager(pem)));
    } catch (IOException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "%s cannot be used (%s); tls-ca-file names a PEM file with certificates."
              .formatted(authorities, e.getClass().getSimpleName()));
    }
  }

  /** Returns a configuration that trusts every server: encrypted, but not authenticated. */
  public static UpstreamTls skippingVerification() {
    return new UpstreamTls(
        build(
            client()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)));
  }

  /**
   * Returns the first handler of a connection to {@code host}, a name or an IP address without
   * brackets.
   */
  public SslHandler newHandler(ByteBufAllocator allocator, String host, int port) {
    SslHandler handler = context.newHandler(allocator, host, port);
    // By itself, Java sends only server names with a dot; names of services in the same namespace
    // have none.
    SNIHostName name = serverName(host);
    if (name != null) {
      SSLParameters parameters = handler.engine().getSSLParameters();
      parameters.setServerNames(List.of(name));
      handler.engine().setSSLParameters(parameters);
    }
    return handler;
  }

  private static @Nullable SNIHostName serverName(String host) {
    if (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)) {
      return null;
    }
    try {
      return new SNIHostName(host);
    } catch (IllegalArgumentException _) {
      return null;
    }
  }

  private static SslContextBuilder client() {
    return SslContextBuilder.forClient().sslProvider(SslProvider.JDK).protocols(PROTOCOLS);
  }

  private static SslContext build(SslContextBuilder builder) {
    try {
      return builder.build();
    } catch (SSLException e) {
      throw new IllegalStateException("This Java runtime cannot be a TLS client.", e);
    }
  }
}
