package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.linux.SystemView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** What {@code bpf/prebuilt} has put into this jar, for the processor that this runs on. */
final class Resources {

  private static final String X86_64 = "/io/inferspan/ebpf/bpf/";
  private static final String AARCH64 = X86_64 + "arm64/";

  private Resources() {}

  static byte[] object(String name) {
    return object(name, SystemView.architecture());
  }

  static byte[] object(String name, String architecture) {
    return bytes(directory(architecture) + name + ".bpf.o");
  }

  static String callTable() {
    return callTable(SystemView.architecture());
  }

  static String callTable(String architecture) {
    return new String(bytes(directory(architecture) + "calls.tsv"), StandardCharsets.UTF_8);
  }

  private static String directory(String architecture) {
    return architecture.equals("aarch64") ? AARCH64 : X86_64;
  }

  private static byte[] bytes(String file) {
    try (InputStream resource = Resources.class.getResourceAsStream(file)) {
      if (resource == null) {
        throw new IllegalStateException("this jar was built without " + file);
      }
      return resource.readAllBytes();
    } catch (IOException broken) {
      throw new UncheckedIOException("this jar cannot be read", broken);
    }
  }
}
