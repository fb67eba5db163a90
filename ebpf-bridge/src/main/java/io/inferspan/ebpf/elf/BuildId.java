package io.inferspan.ebpf.elf;

import io.inferspan.ebpf.elf.ElfFile.Section;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Reads the build id of a file. Its separate debug file has the same id. */
final class BuildId {

  private static final int NOTE = 7;
  private static final int MAX_NOTES_BYTES = 1 << 16;
  private static final int GNU_BUILD_ID = 3;
  private static final int GNU = 'G' | 'N' << 8 | 'U' << 16;
  private static final int HEADER_BYTES = 12;
  private static final int MAX_ID_BYTES = 64;

  private BuildId() {}

  /** Returns the id in hexadecimal; empty if the file has none. */
  static String of(ElfFile file) throws IOException {
    for (Section section : file.sections()) {
      if (section.type() == NOTE && section.length() <= MAX_NOTES_BYTES) {
        String id = in(file.read(section.offset(), section.length()));
        if (!id.isEmpty()) {
          return id;
        }
      }
    }
    return "";
  }

  private static String in(ByteBuffer notes) {
    int at = 0;
    while (at >= 0 && at <= notes.limit() - HEADER_BYTES - 4) {
      int nameBytes = notes.getInt(at);
      int idBytes = notes.getInt(at + 4);
      boolean ours = nameBytes == 4 && notes.getInt(at + HEADER_BYTES) == GNU;
      int id = at + HEADER_BYTES + aligned(nameBytes);
      if (idBytes < 0 || id < at || id > notes.limit() - idBytes) {
        return "";
      }
      if (ours && notes.getInt(at + 8) == GNU_BUILD_ID && idBytes <= MAX_ID_BYTES) {
        byte[] bytes = new byte[idBytes];
        notes.get(id, bytes);
        return HexFormat.of().formatHex(bytes);
      }
      at = id + aligned(idBytes);
    }
    return "";
  }

  private static int aligned(int bytes) {
    return bytes + 3 & ~3;
  }
}
