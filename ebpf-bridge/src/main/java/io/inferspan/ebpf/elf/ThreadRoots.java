package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the C library's functions that call {@code main} and the start routines of threads. They
 * have no symbols, but {@code __libc_start_main} calls the former, and {@code pthread_create} or a
 * function that it calls takes the address of the latter.
 */
final class ThreadRoots {

  private static final String STARTS_PROGRAM = "__libc_start_main";
  private static final String CREATES_THREAD = "pthread_create";
  private static final int MAX_BYTES = 1 << 16;
  private static final int CALL = 0xe8;
  private static final int REX = 0x48;
  private static final int ADDRESS_OF = 0x8d;

  private final ElfFile file;
  private final List<Code> code;
  private final UnwindTable frames;

  private ThreadRoots(ElfFile file, List<Code> code, UnwindTable frames) {
    this.file = file;
    this.code = code;
    this.frames = frames;
  }

  /**
   * Returns the addresses of these functions; empty for a file that exports neither {@code
   * __libc_start_main} nor {@code pthread_create}.
   */
  static Set<Long> of(ElfFile file, List<Code> code, SymbolTable symbols, UnwindTable frames)
      throws IOException {
    long program = symbols.address(SymbolTable.FUNCTION, STARTS_PROGRAM);
    long thread = symbols.address(SymbolTable.FUNCTION, CREATES_THREAD);
    ThreadRoots roots = new ThreadRoots(file, code, frames);
    Set<Long> found = roots.referenced(program, true);
    for (long called : roots.referenced(thread, true)) {
      found.addAll(roots.referenced(called, false));
    }
    found.addAll(roots.referenced(thread, false));
    return found;
  }

  /** Returns the functions that a function calls, or those whose addresses it takes. */
  private Set<Long> referenced(long start, boolean called) throws IOException {
    Set<Long> found = new HashSet<>();
    ByteBuffer bytes = bytes(start);
    for (int i = called ? 1 : 3; i + 4 <= bytes.limit(); i++) {
      boolean matches =
          called
              ? at(bytes, i - 1) == CALL
              : at(bytes, i - 3) == REX
                  && at(bytes, i - 2) == ADDRESS_OF
                  && (at(bytes, i - 1) & 0xc7) == 5;
      long target = start + i + 4 + bytes.getInt(i);
      if (matches && frames.start(target) == target) {
        found.add(target);
      }
    }
    return found;
  }

  private static int at(ByteBuffer bytes, int index) {
    return Byte.toUnsignedInt(bytes.get(index));
  }

  private ByteBuffer bytes(long start) throws IOException {
    if (start == 0) {
      return ByteBuffer.allocate(0);
    }
    long length = Math.min(frames.end(start) - start, MAX_BYTES);
    for (Code part : code) {
      if (part.holds(start)) {
        return file.read(start - part.address() + part.offset(), length);
      }
    }
    return ByteBuffer.allocate(0);
  }
}
