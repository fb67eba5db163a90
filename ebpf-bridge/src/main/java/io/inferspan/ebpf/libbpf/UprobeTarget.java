package io.inferspan.ebpf.libbpf;

import java.nio.file.Path;
import java.util.List;

/**
 * Functions of one library to attach a program to.
 *
 * @param library the file, as this process sees it
 * @param sites where in the file
 * @param pid the process to observe, or {@link #EVERY_PROCESS}
 * @param atReturn whether the program runs when a function returns; of no meaning to a session
 */
public record UprobeTarget(Path library, List<Site> sites, int pid, boolean atReturn) {

  /** Whichever process maps the library, now or later. */
  public static final int EVERY_PROCESS = 0;

  /** The begin of a function in its file, and the number that the program is told when it hits. */
  public record Site(long fileOffset, long cookie) {}

  /** Copies the sites. */
  public UprobeTarget {
    sites = List.copyOf(sites);
    if (sites.isEmpty()) {
      throw new IllegalArgumentException("no function of " + library + " to attach to");
    }
  }
}
