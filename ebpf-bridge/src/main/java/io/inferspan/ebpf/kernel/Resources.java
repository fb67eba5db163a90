package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.linux.SystemView;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The BPF objects in this jar, built from {@code bpf/src}, for the current architecture. */
public final class Resources {

  private static final String X86_64 = "/io/inferspan/ebpf/bpf/";
  private static final String AARCH64 = X86_64 + "arm64/";

  private Resources() {}

  /** Returns an object by its name in {@code bpf/src}. */
  public static byte[] object(String name) {
    return object(name, SystemView.architecture());
  }

  /** Returns a policy by its name in {@code bpf/policies}, which serves every architecture. */
  public static byte[] policy(String name) {
    return bytes(X86_64 + "policies/" + name + ".bpf.o");
  }

  static byte[] object(String name, String architecture) {
    return bytes(directory(architecture) + name + ".bpf.o");
  }

  /** Returns the table of CUDA and NCCL functions: lines of library, function and cookie. */
  public static String callTable() {
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
