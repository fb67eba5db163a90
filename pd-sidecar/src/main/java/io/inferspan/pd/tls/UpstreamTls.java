package io.inferspan.pd.tls;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.NetUtil;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * TLS towards one kind of upstream server: who is trusted, and which name is asked for.
 *
 * <p>Trust is the Java runtime's. HTTP/1.1 is what engines speak, so nothing is negotiated.
 */
public final class UpstreamTls {
  private static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

  private final SslContext context;

  private UpstreamTls(SslContext context) {
    this.context = context;
  }

  /** Trusts the authorities that the Java runtime trusts, for the host name that is called. */
  public static UpstreamTls verifying() {
    return new UpstreamTls(verifying((X509Certificate[]) null));
  }

  /** Trusts every server under any name: encrypted, but not authenticated. */
  public static UpstreamTls skippingVerification() {
    return new UpstreamTls(
        build(
            client()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)));
  }

  static UpstreamTls trusting(X509Certificate... authorities) {
    return new UpstreamTls(verifying(authorities));
  }

  /** The context; prefer {@link #newHandler}, which also names the host. */
  public SslContext context() {
    return context;
  }

  /** The first handler of a connection to {@code host}, a name or an IP without brackets. */
  public SslHandler newHandler(ByteBufAllocator allocator, String host, int port) {
    SslHandler handler = context.newHandler(allocator, host, port);
    // Java names only hosts with a dot by itself; services of the same namespace have none.
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

  private static SslContext verifying(X509Certificate @Nullable ... authorities) {
    SslContextBuilder builder = client().endpointIdentificationAlgorithm("HTTPS");
    return build(authorities == null ? builder : builder.trustManager(authorities));
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
