package io.inferspan.ebpf.wire;

import io.inferspan.ebpf.linux.SystemView;
import org.jspecify.annotations.Nullable;

/**
 * The names of the system calls that a request can wait for, by their numbers on this architecture.
 */
public final class CallNumber {

  /** Names, with their numbers on x86-64 and on AArch64; -1 if AArch64 lacks the call. */
  private static final String TABLE =
      """
      read 0 63
      pread64 17 67
      readv 19 65
      preadv 295 69
      preadv2 327 286
      write 1 64
      pwrite64 18 68
      writev 20 66
      pwritev 296 70
      pwritev2 328 287
      sendfile 40 71
      recvfrom 45 207
      recvmsg 47 212
      recvmmsg 299 243
      sendto 44 206
      sendmsg 46 211
      sendmmsg 307 269
      futex 202 98
      futex_waitv 449 449
      poll 7 -1
      ppoll 271 73
      epoll_wait 232 -1
      epoll_pwait 281 22
      epoll_pwait2 441 441
      select 23 -1
      pselect6 270 72
      open 2 -1
      openat 257 56
      openat2 437 437
      mmap 9 222
      ioctl 16 29
      connect 42 203
      accept 43 202
      accept4 288 242
      close 3 57
      fsync 74 82
      fdatasync 75 83
      """;

  private static final int NUMBERS = 512;
  private static final @Nullable String[] NAMES = names(SystemView.architecture());

  private CallNumber() {}

  /**
   * Returns the name of the system call {@code numberPlusOne - 1}; null if that is -1 or unknown.
   */
  public static @Nullable String name(long numberPlusOne) {
    return numberPlusOne > 0 && numberPlusOne <= NUMBERS ? NAMES[(int) numberPlusOne - 1] : null;
  }

  /** Returns the names by number, for an architecture with this name in Java. */
  public static @Nullable String[] names(String architecture) {
    int column = architecture.equals("aarch64") ? 2 : 1;
    @Nullable String[] names = new @Nullable String[NUMBERS];
    TABLE
        .lines()
        .map(line -> line.split(" ", 3))
        .filter(words -> !words[column].equals("-1"))
        .forEach(words -> names[Integer.parseInt(words[column])] = words[0]);
    return names;
  }
}
