package io.inferspan.ebpf.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import org.jspecify.annotations.Nullable;

/** A shared library in this process. */
public final class NativeLibrary {

  private final SymbolLookup symbols;

  private NativeLibrary(SymbolLookup symbols) {
    this.symbols = symbols;
  }

  /** Returns the C library. */
  public static NativeLibrary c() {
    return new NativeLibrary(Linker.nativeLinker().defaultLookup());
  }

  /**
   * Opens a library by the dynamic linker's rules and keeps it open until the process ends; returns
   * null if it cannot be opened.
   */
  @SuppressWarnings("restricted")
  public static @Nullable NativeLibrary open(String soname) {
    try {
      return new NativeLibrary(SymbolLookup.libraryLookup(soname, Arena.global()));
    } catch (IllegalArgumentException absent) {
      return null;
    }
  }

  /** Returns whether the library exports this function. */
  public boolean has(String function) {
    return symbols.find(function).isPresent();
  }

  /** Returns a function of the library; {@link #has} must be true for it. */
  public NativeFunction function(String name) {
    return new NativeFunction(name, address(name));
  }

  MemorySegment address(String name) {
    return symbols.find(name).orElseThrow(() -> new IllegalStateException("no symbol " + name));
  }
}
