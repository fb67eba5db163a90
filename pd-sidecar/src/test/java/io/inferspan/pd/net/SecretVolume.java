package io.inferspan.pd.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Base64;

/**
 * A mounted secret as the kubelet keeps it: {@code tls.crt -> ..data/tls.crt}, {@code ..data ->
 * ..2026_1}, and an update replaces {@code ..data} with a rename.
 */
final class SecretVolume {
  private final Path root;
  private int versions;

  SecretVolume(Path root) {
    this.root = root;
  }

  Path root() {
    return root;
  }

  void put(Identity identity) throws IOException {
    put(pem("CERTIFICATE", certificate(identity)), pem("PRIVATE KEY", key(identity)));
  }

  void put(String certificate, String key) throws IOException {
    Path data = root.resolve("..data");
    Path old = Files.exists(data) ? data.toRealPath() : null;
    Path version = Files.createDirectory(root.resolve("..2026_" + ++versions));
    Files.writeString(version.resolve("tls.crt"), certificate);
    Files.writeString(version.resolve("tls.key"), key);
    Path swap = Files.createSymbolicLink(root.resolve("..data_tmp"), version.getFileName());
    Files.move(swap, data, StandardCopyOption.ATOMIC_MOVE);
    if (old == null) {
      Files.createSymbolicLink(root.resolve("tls.crt"), Path.of("..data/tls.crt"));
      Files.createSymbolicLink(root.resolve("tls.key"), Path.of("..data/tls.key"));
    } else {
      Files.delete(old.resolve("tls.crt"));
      Files.delete(old.resolve("tls.key"));
      Files.delete(old);
    }
  }

  static byte[] certificate(Identity identity) {
    try {
      return identity.certificate().getEncoded();
    } catch (java.security.cert.CertificateEncodingException e) {
      throw new IllegalStateException(e);
    }
  }

  static byte[] key(Identity identity) {
    return identity.key().getEncoded();
  }

  static String pem(String label, byte[] der) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(label, body, label);
  }
}
