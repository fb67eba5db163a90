package io.inferspan.ebpf.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** What {@code bpf/prebuilt} has put into this jar. */
final class Resources {

  private static final String DIRECTORY = "/io/inferspan/ebpf/bpf/";

  private Resources() {}

  static byte[] object(String name) {
    return bytes(name + ".bpf.o");
  }

  static String callTable() {
    return new String(bytes("calls.tsv"), StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String file) {
    try (InputStream resource = Resources.class.getResourceAsStream(DIRECTORY + file)) {
      if (resource == null) {
        throw new IllegalStateException("this jar was built without " + file);
      }
      return resource.readAllBytes();
    } catch (IOException broken) {
      throw new UncheckedIOException("this jar cannot be read", broken);
    }
  }
}
