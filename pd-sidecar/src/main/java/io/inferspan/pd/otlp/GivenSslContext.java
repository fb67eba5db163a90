package io.inferspan.pd.otlp;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.vertx.core.net.SSLEngineOptions;
import io.vertx.core.spi.tls.SslContextFactory;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A TLS engine over an {@link SSLContext} that somebody else made.
 *
 * <p>The exporters have read certificates and key already, and an SSL context does not give them
 * out again.
 */
final class GivenSslContext extends SSLEngineOptions {

  private final @Nullable SSLContext context;

  /** Takes the process's default where there is no context. */
  GivenSslContext(@Nullable SSLContext context) {
    this.context = context;
    // Handshakes compute for milliseconds, and the event loop may carry requests.
    setUseWorkerThread(true);
  }

  @Override
  public SSLEngineOptions copy() {
    return new GivenSslContext(context);
  }

  @Override
  public SslContextFactory sslContextFactory() {
    return new Factory(context);
  }

  private static final class Factory implements SslContextFactory {

    private final @Nullable SSLContext context;
    private List<String> protocols = List.of();

    Factory(@Nullable SSLContext context) {
      this.context = context;
    }

    @Override
    public SslContextFactory applicationProtocols(List<String> offered) {
      protocols = List.copyOf(offered);
      return this;
    }

    @Override
    public SslContext create() throws SSLException {
      return new JdkSslContext(
          context == null ? processDefault() : context,
          true,
          null,
          IdentityCipherSuiteFilter.INSTANCE,
          alpn(),
          ClientAuth.NONE,
          null,
          false);
    }

    private ApplicationProtocolConfig alpn() {
      return protocols.isEmpty()
          ? ApplicationProtocolConfig.DISABLED
          : new ApplicationProtocolConfig(
              Protocol.ALPN,
              SelectorFailureBehavior.NO_ADVERTISE,
              SelectedListenerFailureBehavior.ACCEPT,
              protocols);
    }

    private static SSLContext processDefault() throws SSLException {
      try {
        return SSLContext.getDefault();
      } catch (NoSuchAlgorithmException e) {
        throw new SSLException("The process has no default SSL context", e);
      }
    }
  }
}
