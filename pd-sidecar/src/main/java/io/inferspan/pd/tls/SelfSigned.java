package io.inferspan.pd.tls;

import static io.inferspan.pd.tls.Der.bits;
import static io.inferspan.pd.tls.Der.element;
import static io.inferspan.pd.tls.Der.integer;
import static io.inferspan.pd.tls.Der.octets;
import static io.inferspan.pd.tls.Der.oid;
import static io.inferspan.pd.tls.Der.sequence;
import static io.inferspan.pd.tls.Der.set;
import static io.inferspan.pd.tls.Der.tagged;
import static io.inferspan.pd.tls.Der.text;
import static io.inferspan.pd.tls.Der.time;
import static io.inferspan.pd.tls.Der.yes;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;

/** Creates the listener's certificate if none is configured: EC P-256, self-signed. */
final class SelfSigned {
  static final String ORGANISATION = "Inferspan P/D sidecar";
  private static final int YEARS = 10;

  /** Clocks in a cluster differ, and clients reject a certificate from the future. */
  private static final Duration CLOCK_SKEW = Duration.ofHours(1);

  private static final int SERIAL_BITS = 127;
  private static final byte[] ECDSA_SHA256 = sequence(oid(1, 2, 840, 10045, 4, 3, 2));
  private static final byte[] LOOPBACK_4 = {127, 0, 0, 1};
  private static final byte[] LOOPBACK_6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

  private SelfSigned() {}

  static Identity create(Instant now) {
    Instant until = now.atOffset(ZoneOffset.UTC).plusYears(YEARS).toInstant();
    return create(ORGANISATION, now.minus(CLOCK_SKEW), until);
  }

  static Identity create(String organisation, Instant from, Instant until) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair keys = generator.generateKeyPair();
      byte[] content = content(organisation, sequence(time(from), time(until)), keys);
      byte[] signature = bits(sign(content, keys.getPrivate()), 0);
      byte[] certificate = sequence(content, ECDSA_SHA256, signature);
      return new Identity(keys.getPrivate(), List.of(parse(certificate)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This Java runtime cannot make an EC certificate.", e);
    }
  }

  private static byte[] content(String organisation, byte[] validity, KeyPair keys) {
    byte[] name = sequence(set(sequence(oid(2, 5, 4, 10), text(organisation))));
    return sequence(
        tagged(0, integer(BigInteger.TWO)), // X.509 version 3
        integer(new BigInteger(SERIAL_BITS, new SecureRandom()).add(BigInteger.ONE)),
        ECDSA_SHA256,
        name,
        validity,
        name,
        keys.getPublic().getEncoded(),
        tagged(3, sequence(keyUsage(), serverUse(), alternativeNames())));
  }

  private static byte[] keyUsage() {
    byte[] digitalSignature = bits(new byte[] {(byte) 0x80}, 7);
    return sequence(oid(2, 5, 29, 15), yes(), octets(digitalSignature));
  }

  private static byte[] serverUse() {
    byte[] serverAuth = oid(1, 3, 6, 1, 5, 5, 7, 3, 1);
    return sequence(oid(2, 5, 29, 37), octets(sequence(serverAuth)));
  }

  private static byte[] alternativeNames() {
    byte[] names =
        sequence(
            element(0x82, "localhost".getBytes(StandardCharsets.US_ASCII)),
            element(0x87, LOOPBACK_4),
            element(0x87, LOOPBACK_6));
    return sequence(oid(2, 5, 29, 17), octets(names));
  }

  private static byte[] sign(byte[] content, PrivateKey key) throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(key);
    signature.update(content);
    return signature.sign();
  }

  private static X509Certificate parse(byte[] certificate) throws GeneralSecurityException {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(certificate));
  }
}
