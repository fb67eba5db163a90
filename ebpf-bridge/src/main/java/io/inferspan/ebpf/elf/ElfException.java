package io.inferspan.ebpf.elf;

import java.io.IOException;

/**
 * Thrown for a file that is not ELF, is damaged, or is of a kind that the bridge does not support.
 */
public final class ElfException extends IOException {

  private static final long serialVersionUID = 1L;

  ElfException(String reason) {
    super(reason);
  }
}
