package io.inferspan.ebpf.linux;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Thread ids and priorities of this process's threads. */
public final class Threads {

  private static final int WHICH_PROCESS = 0;
  private static final int LOWEST_PRIORITY = 19;

  private static final ThreadLocal<Integer> TID =
      ThreadLocal.withInitial(() -> (int) SystemCall.GETTID.call());

  private Threads() {}

  /**
   * Sets the lowest priority for the threads of this process, except those whose names begin with
   * {@code name}. Threads that they start later inherit it.
   */
  public static void giveWayExcept(String name) throws IOException {
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path thread : threads) {
        long tid = Long.parseLong(String.valueOf(thread.getFileName()));
        if (!isNamed(thread, name)) {
          // The thread may have ended meanwhile.
          long ignored = SystemCall.SETPRIORITY.call(WHICH_PROCESS, tid, LOWEST_PRIORITY);
        }
      }
    }
  }

  /**
   * Returns the tids of the threads of this process whose names begin with {@code name}; an empty
   * list if they cannot be read.
   */
  public static List<Integer> named(String name) {
    List<Integer> tids = new ArrayList<>();
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path thread : threads) {
        if (isNamed(thread, name)) {
          tids.add(Integer.parseInt(String.valueOf(thread.getFileName())));
        }
      }
    } catch (IOException hidden) {
      return List.of();
    }
    return tids;
  }

  private static boolean isNamed(Path thread, String name) {
    try {
      return Files.readString(thread.resolve("comm")).startsWith(name);
    } catch (IOException ended) {
      return false;
    }
  }

  /** Returns the calling thread's tid; for a virtual thread that of its current carrier. */
  public static int currentTid() {
    return Thread.currentThread().isVirtual() ? (int) SystemCall.GETTID.call() : TID.get();
  }
}
