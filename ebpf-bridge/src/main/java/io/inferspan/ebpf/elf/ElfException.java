package io.inferspan.ebpf.elf;

import java.io.IOException;

/** A file that is no ELF file, or one that the bridge does not read; the message says why. */
public final class ElfException extends IOException {

  private static final long serialVersionUID = 1L;

  ElfException(String reason) {
    super(reason);
  }
}
