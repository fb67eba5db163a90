package io.inferspan.ebpf.elf;

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
 * What a file for x86-64 says of its functions' frames: {@code .eh_frame}, or of Go {@code
 * .debug_frame}.
 *
 * <p>Only what tells whether a chain of frame pointers is whole is read; anything unusual is {@link
 * CallFrame#UNKNOWN}.
 */
final class UnwindTable {

  private static final int MAX_BYTES = 64 << 20;
  private static final int MAX_FUNCTIONS = 1 << 22;
  private static final int COMPRESSED_HEADER_BYTES = 24;
  private static final int RELATIVE_32 = 0x1b;
  private static final int SORTED_32 = 0x3b;

  /** Entries by the address where they begin. */
  private final long[] starts;

  private final int[] entries;
  private final ByteBuffer bytes;
  private final boolean go;

  private UnwindTable(ByteBuffer bytes, boolean go, long[] starts, int[] entries) {
    this.bytes = bytes;
    this.go = go;
    this.starts = starts;
    this.entries = entries;
  }

  /** Reads a file; null where it has no such table. */
  static @Nullable UnwindTable of(ElfFile file) throws IOException {
    try {
      // Go's functions are only in the latter; what C has in the same file is in both.
      boolean go = file.section(".gopclntab") != null;
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
      throw new ElfException("an ELF section of " + length + " bytes");
    }
    byte[] plain = new byte[(int) length];
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(raw.position(COMPRESSED_HEADER_BYTES));
      int ignored = inflater.inflate(plain);
    } catch (DataFormatException damaged) {
      throw new ElfException("a damaged ELF section");
    } finally {
      inflater.end();
    }
    return ByteBuffer.wrap(plain).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** By the linker's own index of the entries. */
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
    return new UnwindTable(frames, false, starts, entries);
  }

  /** Of a table without an index. */
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
    // The linker sorts by address.
    return new UnwindTable(
        frames, true, Arrays.copyOf(starts, count), Arrays.copyOf(entries, count));
  }

  long memoryBytes() {
    return bytes.limit() + 12L * starts.length;
  }

  /** Where the function that holds an address begins; -1 where none is known to. */
  long start(long address) {
    int index = index(address);
    return index < 0 ? -1 : starts[index];
  }

  /** Where the next function begins after one. */
  long end(long start) {
    int next = index(start) + 1;
    return next < starts.length ? starts[next] : start;
  }

  private int index(long address) {
    int found = Arrays.binarySearch(starts, address);
    return found >= 0 ? found : -found - 2;
  }

  /** The frame at an instruction, whose address here is this. */
  CallFrame at(long address, Instruction instruction) {
    int index = index(address);
    if (index < 0) {
      return CallFrame.UNKNOWN;
    }
    try {
      CallFrameProgram program = new CallFrameProgram(bytes, entries[index], go);
      return program.holds(address - starts[index])
          ? program.at(address - starts[index], instruction)
          : CallFrame.UNKNOWN;
    } catch (BufferUnderflowException | IndexOutOfBoundsException | IllegalArgumentException odd) {
      return CallFrame.UNKNOWN;
    }
  }
}
