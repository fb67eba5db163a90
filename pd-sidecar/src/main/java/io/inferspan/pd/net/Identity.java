package io.inferspan.pd.net;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server's certificate chain and the private key of its first certificate.
 *
 * @param chain the server's own certificate first
 */
record Identity(PrivateKey key, List<X509Certificate> chain) {
  static final String CERTIFICATE_FILE = "tls.crt";
  static final String KEY_FILE = "tls.key";

  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \\1-----");
  private static final byte[] PROBE = {1, 2, 3};

  static List<Path> files(Path directory) {
    return List.of(directory.resolve(CERTIFICATE_FILE), directory.resolve(KEY_FILE));
  }

  /**
   * Reads {@code tls.crt} and {@code tls.key}, the files of a Kubernetes TLS secret.
   *
   * @throws IllegalArgumentException with one sentence, without the files' content
   */
  static Identity read(Path directory) {
    Path certificateFile = directory.resolve(CERTIFICATE_FILE);
    Path keyFile = directory.resolve(KEY_FILE);
    List<X509Certificate> chain = chain(certificateFile);
    PublicKey publicKey = chain.getFirst().getPublicKey();
    PrivateKey key = key(keyFile, publicKey);
    if (!belongTogether(key, publicKey)) {
      throw new IllegalArgumentException(
          "The key in %s does not belong to the certificate in %s; the two files must be a pair."
              .formatted(keyFile, certificateFile));
    }
    return new Identity(key, chain);
  }

  X509Certificate certificate() {
    return chain.getFirst();
  }

  boolean expiredAt(Instant instant) {
    return certificate().getNotAfter().toInstant().isBefore(instant);
  }

  /** Returns the subject of the certificate, without the key. */
  @Override
  public String toString() {
    return "Identity[" + certificate().getSubjectX500Principal() + "]";
  }

  private static List<X509Certificate> chain(Path file) {
    List<X509Certificate> chain = new ArrayList<>();
    try {
      CertificateFactory certificates = CertificateFactory.getInstance("X.509");
      for (Block block : blocks(file)) {
        if (block.label().equals("CERTIFICATE")) {
          ByteArrayInputStream der = new ByteArrayInputStream(decode(file, block));
          chain.add((X509Certificate) certificates.generateCertificate(der));
        }
      }
    } catch (GeneralSecurityException _) {
      throw refused(file, "has a certificate that cannot be read; a PEM chain is expected");
    }
    if (chain.isEmpty()) {
      throw refused(file, "holds no certificate; a PEM chain is expected");
    }
    return List.copyOf(chain);
  }

  private static PrivateKey key(Path file, PublicKey publicKey) {
    try {
      for (Block block : blocks(file)) {
        switch (block.label()) {
          case "PRIVATE KEY" -> {
            return key(decode(file, block), publicKey);
          }
          case "EC PRIVATE KEY", "RSA PRIVATE KEY" -> {
            return key(wrapped(decode(file, block), publicKey), publicKey);
          }
          case "ENCRYPTED PRIVATE KEY" ->
              throw refused(file, "is encrypted; a key without passphrase is expected");
          default -> {} // such as EC PARAMETERS, which tools put before the key
        }
      }
    } catch (GeneralSecurityException _) {
      throw refused(
          file, "has a key that cannot be read, or whose algorithm is not that of tls.crt");
    }
    throw refused(file, "holds no private key; PEM with PKCS#8, PKCS#1 or SEC1 is expected");
  }

  private static PrivateKey key(byte[] pkcs8, PublicKey publicKey) throws GeneralSecurityException {
    return KeyFactory.getInstance(publicKey.getAlgorithm())
        .generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
  }

  /**
   * Converts a PKCS#1 or SEC1 key to PKCS#8; the certificate determines the algorithm and curve.
   */
  private static byte[] wrapped(byte[] key, PublicKey publicKey) {
    return Der.sequence(
        Der.integer(BigInteger.ZERO), Der.firstIn(publicKey.getEncoded()), Der.octets(key));
  }

  private static boolean belongTogether(PrivateKey key, PublicKey publicKey) {
    try {
      Signature signature = Signature.getInstance(signatureFor(publicKey));
      signature.initSign(key);
      signature.update(PROBE);
      byte[] signed = signature.sign();
      signature.initVerify(publicKey);
      signature.update(PROBE);
      return signature.verify(signed);
    } catch (GeneralSecurityException _) {
      return false;
    }
  }

  private static String signatureFor(PublicKey publicKey) {
    return switch (publicKey.getAlgorithm()) {
      case "EC" -> "SHA256withECDSA";
      case "RSA" -> "SHA256withRSA";
      default -> publicKey.getAlgorithm();
    };
  }

  private static List<Block> blocks(Path file) {
    String text;
    try {
      text = Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "%s cannot be read (%s); cert-path names a directory with %s and %s."
              .formatted(file, e.getClass().getSimpleName(), CERTIFICATE_FILE, KEY_FILE));
    }
    List<Block> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(text);
    while (matcher.find()) {
      blocks.add(new Block(matcher.group(1), matcher.group(2)));
    }
    return blocks;
  }

  private static byte[] decode(Path file, Block block) {
    try {
      return Base64.getMimeDecoder().decode(block.base64());
    } catch (IllegalArgumentException _) {
      throw refused(file, "is malformed: the text between BEGIN and END is not Base64");
    }
  }

  private static IllegalArgumentException refused(Path file, String why) {
    return new IllegalArgumentException("%s %s.".formatted(file, why));
  }

  private record Block(String label, String base64) {}
}
