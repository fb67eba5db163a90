package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.CallFrameProgram.Code;
import io.inferspan.ebpf.elf.ElfFile.Section;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * The unwind table of a file: {@code .eh_frame}, or {@code .debug_frame} of a Go program for
 * x86-64.
 *
 * <p>Its only use is to check chains of frame pointers, so anything unusual is {@link
 * CallFrame#UNKNOWN}.
 */
final class UnwindTable {

  private static final int MAX_BYTES = 64 << 20;
  private static final int MAX_FUNCTIONS = 1 << 22;
  private static final int COMPRESSED_HEADER_BYTES = 24;
  private static final int RELATIVE_32 = 0x1b;
  private static final int SORTED_32 = 0x3b;

  /** The start addresses of the entries, sorted. */
  private final long[] starts;

  private final int[] entries;
  private final ByteBuffer bytes;
  private final Code code;

  private UnwindTable(ByteBuffer bytes, Code code, long[] starts, int[] entries) {
    this.bytes = bytes;
    this.code = code;
    this.starts = starts;
    this.entries = entries;
  }

  /** Reads a file; returns null if it has no such table. */
  static @Nullable UnwindTable of(ElfFile file) throws IOException {
    try {
      // Go functions are only in .debug_frame; C functions in the same file are in both.
      boolean go = file.isForX86() && file.section(".gopclntab") != null;
      Section frames = file.section(go ? ".debug_frame" : ".eh_frame");
      Section index = file.section(".eh_frame_hdr");
      if (frames == null || frames.length() > MAX_BYTES) {
        return null;
      }
      if (go) {
        return listed(contents(file, frames));
      }
      return index == null ? null : indexed(contents(file, frames), frames, file, index);
    } catch (BufferUnderflowException
        | IndexOutOfBoundsException
        | IllegalArgumentException broken) {
      return null;
    }
  }

  private static ByteBuffer contents(ElfFile file, Section section) throws IOException {
    ByteBuffer raw = file.read(section.offset(), section.length());
    if (!section.isCompressed()) {
      return raw;
    }
    long length = raw.getLong(Long.BYTES);
    if (length < 0 || length > MAX_BYTES) {
      throw new ElfException(
          "the ELF file has a compressed section of " + length + " bytes, more than the limit");
    }
    byte[] plain = new byte[(int) length];
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(raw.position(COMPRESSED_HEADER_BYTES));
      int ignored = inflater.inflate(plain);
    } catch (DataFormatException damaged) {
      throw new ElfException("the ELF file has a damaged compressed section");
    } finally {
      inflater.end();
    }
    return ByteBuffer.wrap(plain).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Reads a table through the linker's index of its entries. */
  private static @Nullable UnwindTable indexed(
      ByteBuffer frames, Section section, ElfFile file, Section index) throws IOException {
    ByteBuffer table = file.read(index.offset(), index.length());
    int count = table.getInt(8);
    if (table.get(1) != RELATIVE_32
        || table.get(3) != SORTED_32
        || count < 0
        || count > MAX_FUNCTIONS) {
      return null;
    }
    long[] starts = new long[count];
    int[] entries = new int[count];
    for (int i = 0; i < count; i++) {
      starts[i] = index.address() + table.getInt(12 + 8 * i);
      entries[i] = (int) (index.address() + table.getInt(16 + 8 * i) - section.address());
    }
    return new UnwindTable(frames, file.isForX86() ? Code.X86 : Code.ARM, starts, entries);
  }

  /** Reads a table without an index. */
  private static UnwindTable listed(ByteBuffer frames) {
    long[] starts = new long[1024];
    int[] entries = new int[1024];
    int count = 0;
    int next = 0;
    while (next + 24 <= frames.limit() && count < MAX_FUNCTIONS) {
      if (frames.getInt(next + 4) != -1) {
        if (count == starts.length) {
          starts = Arrays.copyOf(starts, 2 * count);
          entries = Arrays.copyOf(entries, 2 * count);
        }
        starts[count] = frames.getLong(next + 8);
        entries[count++] = next;
      }
      int length = frames.getInt(next);
      next = length < 0 ? frames.limit() : next + 4 + length;
    }
    // Go's linker writes the entries in the order of their addresses.
    return new UnwindTable(
        frames, Code.GO_ON_X86, Arrays.copyOf(starts, count), Arrays.copyOf(entries, count));
  }

  long memoryBytes() {
    return bytes.limit() + 12L * starts.length;
  }

  /** Returns the start of the function that contains an address; -1 if unknown. */
  long start(long address) {
    int index = index(address);
    return index < 0 ? -1 : starts[index];
  }

  /** Returns the start of the next function. */
  long end(long start) {
    int next = index(start) + 1;
    return next < starts.length ? starts[next] : start;
  }

  private int index(long address) {
    int found = Arrays.binarySearch(starts, address);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns the frame at an instruction; {@code address} is its address in the file. */
  CallFrame at(long address, Instruction instruction) {
    int index = index(address);
    if (index < 0) {
      return CallFrame.UNKNOWN;
    }
    try {
      CallFrameProgram program = new CallFrameProgram(bytes, entries[index], code);
      return program.holds(address - starts[index])
          ? program.at(address - starts[index], instruction)
          : CallFrame.UNKNOWN;
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException odd) {
      return CallFrame.UNKNOWN;
    }
  }
}
