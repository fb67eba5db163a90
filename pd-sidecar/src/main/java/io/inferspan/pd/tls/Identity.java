package io.inferspan.pd.tls;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * A server's certificate chain and the private key of its first certificate.
 *
 * @param chain the server's own certificate first
 */
record Identity(PrivateKey key, List<X509Certificate> chain) {

  X509Certificate certificate() {
    return chain.getFirst();
  }

  boolean expiredAt(Instant instant) {
    return certificate().getNotAfter().toInstant().isBefore(instant);
  }

  /** Does not contain the key, not even its length. */
  @Override
  public String toString() {
    return "Identity[" + certificate().getSubjectX500Principal() + "]";
  }
}
