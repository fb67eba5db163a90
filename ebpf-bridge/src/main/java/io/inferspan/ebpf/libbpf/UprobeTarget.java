package io.inferspan.ebpf.libbpf;

import java.nio.file.Path;
import java.util.List;

/**
 * The functions of one library to which a program is attached.
 *
 * @param library the file, as this process sees it
 * @param sites the functions, by their offsets in the file
 * @param pid the process to observe, or {@link #EVERY_PROCESS}
 * @param atReturn whether the program runs when a function returns; has no effect in {@link
 *     UprobeMode#SESSION}
 */
public record UprobeTarget(Path library, List<Site> sites, int pid, boolean atReturn) {

  /** Every process that maps the library, now or later. */
  public static final int EVERY_PROCESS = 0;

  /** The file offset of a function, and the cookie that the program receives at each call. */
  public record Site(long fileOffset, long cookie) {}

  /** Copies the sites. */
  public UprobeTarget {
    sites = List.copyOf(sites);
    if (sites.isEmpty()) {
      throw new IllegalArgumentException("no function of " + library + " to attach to");
    }
  }
}
