package io.inferspan.pd.net;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The listener's TLS, with a self-signed certificate or one from files that may change at any time.
 *
 * <p>Call {@link #current} for each new connection. A new certificate is used from the next
 * connection on; existing ones keep theirs. If the files become unusable, the last certificate
 * stays in use.
 */
public final class ServerTls implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ServerTls.class.getName());
  private static final List<String> PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

  /** Only suites with forward secrecy and authenticated encryption, as in llm-d's listener. */
  private static final List<String> CIPHERS =
      List.of(
          "TLS_AES_128_GCM_SHA256",
          "TLS_AES_256_GCM_SHA384",
          "TLS_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

  private static final ApplicationProtocolConfig ALPN =
      new ApplicationProtocolConfig(
          Protocol.ALPN,
          SelectorFailureBehavior.NO_ADVERTISE,
          SelectedListenerFailureBehavior.ACCEPT,
          ApplicationProtocolNames.HTTP_2,
          ApplicationProtocolNames.HTTP_1_1);

  private final @Nullable FileWatch watch;
  private volatile SslContext current;

  private ServerTls(SslContext current, @Nullable FileWatch watch) {
    this.current = current;
    this.watch = watch;
  }

  /**
   * Creates a TLS configuration with a new self-signed certificate, valid for 10 years; it needs no
   * file and no thread.
   */
  public static ServerTls selfSigned() {
    return new ServerTls(context(SelfSigned.create(Instant.now())), null);
  }

  /**
   * Creates a TLS configuration from {@code tls.crt} and {@code tls.key} in {@code directory},
   * which are read again when they change.
   *
   * @throws IllegalArgumentException with one sentence, if the files cannot be used
   */
  public static ServerTls from(Path directory) {
    FileWatch watch = new FileWatch(Identity.files(directory));
    Identity identity = Identity.read(directory);
    if (identity.expiredAt(Instant.now())) {
      LOG.log(
          WARNING,
          "The certificate in "
              + directory
              + " has expired and is used anyway; replace tls.crt and tls.key.");
    }
    ServerTls tls = new ServerTls(context(identity), watch);
    watch.start("inferspan-pd-certificate", () -> tls.reload(directory));
    return tls;
  }

  /** Returns the context for the next connection. */
  public SslContext current() {
    return current;
  }

  /** Stops watching the files; the current context stays usable. */
  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
  }

  private void reload(Path directory) {
    try {
      Identity identity = Identity.read(directory);
      if (identity.expiredAt(Instant.now())) {
        throw new IllegalArgumentException("The new certificate in " + directory + " has expired.");
      }
      current = context(identity);
      LOG.log(INFO, "A new certificate is served from " + directory + ".");
    } catch (IllegalArgumentException e) {
      LOG.log(WARNING, e.getMessage() + " The old certificate stays in use.");
    }
  }

  private static SslContext context(Identity identity) {
    try {
      return SslContextBuilder.forServer(
              identity.key(), identity.chain().toArray(new X509Certificate[0]))
          .sslProvider(SslProvider.JDK)
          .protocols(PROTOCOLS)
          .ciphers(CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
          .applicationProtocolConfig(ALPN)
          .build();
    } catch (SSLException | RuntimeException e) {
      throw new IllegalArgumentException(
          "The certificate of %s cannot be served (%s); use one with an RSA or ECDSA key."
              .formatted(identity.certificate().getSubjectX500Principal(), e),
          e);
    }
  }
}
