package io.inferspan.testing.otlp;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A fresh self-signed certificate for {@code localhost} with its EC key, as two PEM files.
 *
 * <p>It can be a server certificate, a client certificate and its own authority. It is valid for a
 * few days. Creating one runs the JDK's {@code keytool}, which takes about a second.
 *
 * @param certificatePem the file with the certificate (X.509)
 * @param privateKeyPem the file with the private key (PKCS#8, not encrypted)
 */
public record TestCertificate(Path certificatePem, Path privateKeyPem) {
  private static final String ALIAS = "test";
  // For a temporary key store; keytool requires at least six characters.
  private static final String STORE_PASSWORD = "changeit";
  private static final String OPTIONS =
      """
      -genkeypair -alias %s -keyalg EC -groupname secp256r1 -dname CN=localhost
      -ext SAN=dns:localhost,ip:127.0.0.1,ip:::1 -startdate -1d -validity 4
      -storetype PKCS12 -storepass %s"""
          .formatted(ALIAS, STORE_PASSWORD);
  private static final int KEYTOOL_TIMEOUT_SECONDS = 60;

  /** Creates a certificate in a new temporary directory, which the caller removes. */
  public static TestCertificate create() {
    try {
      return createIn(Files.createTempDirectory("test-certificate"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create a directory for a test certificate", e);
    }
  }

  /** Creates a certificate as two new files in the given directory. */
  public static TestCertificate createIn(Path directory) {
    String name = "localhost-" + UUID.randomUUID();
    Path store = directory.resolve(name + ".p12");
    try {
      runKeytool(store);
      return convert(store, directory, name);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create a test certificate in " + directory, e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot create a test certificate in " + directory, e);
    }
  }

  /** Returns the certificate as PEM bytes, for OTLP exporters. */
  public byte[] certificateBytes() {
    return read(certificatePem);
  }

  /** Returns the private key as PEM bytes, for OTLP exporters. */
  public byte[] privateKeyBytes() {
    return read(privateKeyPem);
  }

  private static void runKeytool(Path store) throws IOException {
    Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    List<String> command = new ArrayList<>(List.of(keytool.toString()));
    Collections.addAll(command, OPTIONS.split("\\s+"));
    Collections.addAll(command, "-keystore", store.toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    await(process);
  }

  private static void await(Process process) throws IOException {
    try {
      if (!process.waitFor(KEYTOOL_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new IOException("keytool took longer than " + KEYTOOL_TIMEOUT_SECONDS + " s");
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while keytool ran", e);
    }
    if (process.exitValue() != 0) {
      byte[] output = process.getInputStream().readAllBytes();
      throw new IOException("keytool failed: " + new String(output, StandardCharsets.UTF_8));
    }
  }

  private static TestCertificate convert(Path store, Path directory, String name)
      throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, STORE_PASSWORD.toCharArray());
    }
    Files.delete(store);
    byte[] certificate = keys.getCertificate(ALIAS).getEncoded();
    byte[] privateKey = keys.getKey(ALIAS, STORE_PASSWORD.toCharArray()).getEncoded();
    return new TestCertificate(
        writePem(directory.resolve(name + ".crt"), "CERTIFICATE", certificate),
        writePem(directory.resolve(name + ".key"), "PRIVATE KEY", privateKey));
  }

  private static Path writePem(Path file, String label, byte[] der) throws IOException {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    String pem = "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(label, body, label);
    return Files.writeString(file, pem);
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
