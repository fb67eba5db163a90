package io.inferspan.pd.net;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** A JDK client that accepts any certificate and records the result of the handshake. */
record TlsClient(List<String> protocols, List<String> ciphers, List<String> alpn) {

  static TlsClient any() {
    return new TlsClient(List.of(), List.of(), List.of());
  }

  Handshake shakeHands(int port) throws IOException {
    try (SSLSocket socket =
        (SSLSocket) context().getSocketFactory().createSocket("127.0.0.1", port)) {
      socket.setSoTimeout(5_000);
      SSLParameters parameters = socket.getSSLParameters();
      if (!protocols.isEmpty()) {
        parameters.setProtocols(protocols.toArray(new String[0]));
      }
      if (!ciphers.isEmpty()) {
        parameters.setCipherSuites(ciphers.toArray(new String[0]));
      }
      parameters.setApplicationProtocols(alpn.toArray(new String[0]));
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      return new Handshake(
          socket.getSession().getProtocol(),
          socket.getSession().getCipherSuite(),
          socket.getApplicationProtocol(),
          (X509Certificate) socket.getSession().getPeerCertificates()[0]);
    }
  }

  record Handshake(String protocol, String cipher, String alpn, X509Certificate certificate) {
    String organisation() {
      return certificate.getSubjectX500Principal().getName();
    }
  }

  private static SSLContext context() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new TrustAll()}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class TrustAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
