package io.inferspan.pd.net;

import static io.inferspan.pd.net.Der.bits;
import static io.inferspan.pd.net.Der.element;
import static io.inferspan.pd.net.Der.integer;
import static io.inferspan.pd.net.Der.sequence;
import static io.inferspan.pd.net.Der.time;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
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
import java.util.HexFormat;
import java.util.List;
import javax.security.auth.x500.X500Principal;

/** Creates the listener's certificate if none is configured: EC P-256, self-signed. */
final class SelfSigned {
  static final String ORGANISATION = "Inferspan P/D sidecar";
  private static final int YEARS = 10;

  /** Clocks in a cluster differ, and clients reject a certificate from the future. */
  private static final Duration CLOCK_SKEW = Duration.ofHours(1);

  private static final int SERIAL_BITS = 127;

  /** The algorithm identifier of ECDSA with SHA-256. */
  private static final byte[] ECDSA_SHA256 = HexFormat.of().parseHex("300a06082a8648ce3d040302");

  /** The extensions in DER, as a constant because they are the same in every certificate. */
  private static final byte[] EXTENSIONS =
      HexFormat.of()
          .parseHex(
              // keyUsage, critical: digitalSignature
              "300e0603551d0f0101ff040403020780"
                  // extKeyUsage: serverAuth
                  + "30130603551d25040c300a06082b06010505070301"
                  // subjectAltName: localhost, 127.0.0.1, ::1
                  + "302c0603551d110425302382096c6f63616c686f737487047f000001"
                  + "871000000000000000000000000000000001");

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
      byte[] signature = bits(sign(content, keys.getPrivate()));
      byte[] certificate = sequence(content, ECDSA_SHA256, signature);
      return new Identity(keys.getPrivate(), List.of(parse(certificate)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This Java runtime cannot make an EC certificate.", e);
    }
  }

  private static byte[] content(String organisation, byte[] validity, KeyPair keys) {
    byte[] name = new X500Principal("O=" + organisation).getEncoded();
    return sequence(
        element(0xa0, integer(BigInteger.TWO)), // X.509 version 3
        integer(new BigInteger(SERIAL_BITS, new SecureRandom()).add(BigInteger.ONE)),
        ECDSA_SHA256,
        name,
        validity,
        name,
        keys.getPublic().getEncoded(),
        element(0xa3, sequence(EXTENSIONS)));
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
