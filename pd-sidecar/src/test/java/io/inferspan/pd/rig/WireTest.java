package io.inferspan.pd.rig;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The base of tests over raw sockets: engines and a sidecar that are closed after each test. */
@ExtendWith(Cleanliness.class)
@Timeout(30)
public abstract class WireTest {
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  /** Closes {@code resource} after the test, the last one first. */
  protected final <T extends AutoCloseable> T closing(T resource) {
    open.push(resource);
    return resource;
  }

  /** Starts an engine that follows a script. */
  protected final RawServer engine(RawServer.Script script) {
    return closing(RawServer.running(script));
  }

  /** Starts an engine that answers every request with the same text. */
  protected final RawServer engineAnswering(String answer) {
    return closing(RawServer.answering(answer));
  }

  /** Starts a sidecar in front of a decoder. */
  protected final SidecarRig before(int decoderPort, String... flags) {
    return closing(SidecarRig.before(decoderPort).with(flags).start());
  }

  /**
   * Returns flags for a listener with or without TLS; the certificate is a file, because generating
   * one is slow.
   */
  protected final String[] listening(boolean secure, String... more) throws IOException {
    List<String> flags = new ArrayList<>(List.of(more));
    flags.add("--secure-proxy=" + secure);
    if (secure) {
      Path folder = Files.createTempDirectory("cert");
      closing(() -> delete(folder));
      certificate(folder, "ec");
      flags.add("--cert-path=" + folder);
    }
    return flags.toArray(String[]::new);
  }

  /** Puts a key and a certificate of this kind into a folder, as a secret volume would. */
  protected static void certificate(Path folder, String kind) throws IOException {
    replace(folder.resolve("tls.key"), "/tls/" + kind + "-pkcs8.key");
    replace(folder.resolve("tls.crt"), "/tls/" + kind + ".crt");
  }

  private static void replace(Path file, String resource) throws IOException {
    Path written = file.resolveSibling("new");
    try (InputStream in = WireTest.class.getResourceAsStream(resource)) {
      Files.copy(in, written, StandardCopyOption.REPLACE_EXISTING);
    }
    Files.move(written, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void delete(Path folder) throws IOException {
    for (String file : new String[] {"tls.key", "tls.crt"}) {
      Files.deleteIfExists(folder.resolve(file));
    }
    Files.deleteIfExists(folder);
  }

  /** Opens a plain connection to a sidecar. */
  protected final Wire to(SidecarRig sidecar) {
    try {
      return closing(Wire.to(sidecar.port()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @AfterEach
  final void closeAll() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  /** Returns a response with a content length. */
  protected static String ok(String body) {
    return "HTTP/1.1 200 OK\r\ncontent-length: " + body.length() + "\r\n\r\n" + body;
  }
}
