package io.inferspan.ebpf.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Demangles C++ names with the C++ runtime. */
public final class Demangler {

  /**
   * The maximum length of a name. Names come from other processes, and a longer name could make the
   * runtime recurse too deeply.
   */
  private static final int MAX_CHARS = 2048;

  private static final @Nullable NativeFunction DEMANGLE = demangle();
  private static final NativeFunction FREE = NativeLibrary.c().function("free");

  private Demangler() {}

  /** Returns whether this machine has the C++ runtime. */
  public static boolean isAvailable() {
    return DEMANGLE != null;
  }

  /** Returns the demangled name; null if it is not mangled, or if there is no runtime. */
  public static @Nullable String demangle(String name) {
    if (DEMANGLE == null || !name.startsWith("_Z") || name.length() > MAX_CHARS) {
      return null;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment status = arena.allocate(Integer.BYTES, Integer.BYTES);
      long text = DEMANGLE.callLong(arena.allocateFrom(name).address(), 0, 0, status.address());
      if (text == 0) {
        return null;
      }
      try {
        return Memory.string(text);
      } finally {
        FREE.callLong(text);
      }
    }
  }

  private static @Nullable NativeFunction demangle() {
    NativeLibrary runtime = NativeLibrary.open("libstdc++.so.6");
    return runtime == null ? null : runtime.function("__cxa_demangle");
  }
}
