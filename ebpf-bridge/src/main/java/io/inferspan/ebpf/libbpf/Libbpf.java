package io.inferspan.ebpf.libbpf;

import static io.inferspan.ebpf.libbpf.LibbpfFunction.LIBBPF_NUM_POSSIBLE_CPUS;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.LIBBPF_SET_PRINT;
import static io.inferspan.ebpf.libbpf.LibbpfFunction.LIBBPF_VERSION_STRING;

import io.inferspan.ebpf.linux.Memory;
import io.inferspan.ebpf.linux.NativeFunction;
import io.inferspan.ebpf.linux.NativeLibrary;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The system's libbpf. */
public final class Libbpf {

  private static final String SONAME = "libbpf.so.1";
  private static final String OLDER_SONAME = "libbpf.so.0";
  private static final String REMEDY =
      "install libbpf 1.0 or newer, such as the package libbpf1 of Debian and Ubuntu, or libbpf of"
          + " Fedora and Alpine";

  private static @Nullable Libbpf loaded;

  private final Map<LibbpfFunction, NativeFunction> functions = new EnumMap<>(LibbpfFunction.class);

  private Libbpf(NativeLibrary library) {
    for (LibbpfFunction function : LibbpfFunction.values()) {
      if (!library.has(function.symbol())) {
        throw new BpfException("libbpf is too old: it has no " + function.symbol(), REMEDY, "");
      }
      functions.put(function, library.function(function.symbol()));
    }
    callInt(LIBBPF_SET_PRINT, LibbpfMessages.callback());
  }

  /**
   * Loads libbpf once per process. A failure is not cached, because libbpf may be installed later.
   */
  public static synchronized Libbpf load() {
    Libbpf libbpf = loaded;
    if (libbpf == null) {
      libbpf = open(SONAME);
      loaded = libbpf;
    }
    return libbpf;
  }

  static Libbpf open(String soname) {
    NativeLibrary library = NativeLibrary.open(soname);
    if (library == null) {
      boolean older = NativeLibrary.open(OLDER_SONAME) != null;
      String found = older ? ", only the older " + OLDER_SONAME : "";
      throw new BpfException("libbpf is missing: " + soname + " was not found" + found, REMEDY, "");
    }
    return new Libbpf(library);
  }

  /** Returns its version, such as {@code v1.1}. */
  public String version() {
    return Memory.string(callLong(LIBBPF_VERSION_STRING));
  }

  /**
   * Returns the number of possible CPUs, which is the number of values in a per-CPU map's entry.
   */
  public int possibleCpus() {
    return callInt(LIBBPF_NUM_POSSIBLE_CPUS);
  }

  int callInt(LibbpfFunction function, long... arguments) {
    return (int) callLong(function, arguments);
  }

  long callLong(LibbpfFunction function, long... arguments) {
    NativeFunction callable = functions.get(function);
    if (callable == null) {
      throw new IllegalStateException("libbpf was not loaded completely");
    }
    return callable.callLong(arguments);
  }
}
