package io.inferspan.pd.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Watches a few files, and calls back once they have changed and then been stable for 250 ms.
 *
 * <p>It polls the file system four times a second instead of using events: Kubernetes swaps a
 * symbolic link further up the path, which causes no event for the file, and some volumes send no
 * events at all. It needs one daemon thread, and a few microseconds of CPU time per second.
 *
 * <p>Create the watch, read the files, then {@link #start}: a change in between is not lost.
 */
public final class FileWatch implements AutoCloseable {
  static final long STILL_MILLIS = 250;
  private static final long JOIN_MILLIS = 2_000;
  private static final System.Logger LOG = System.getLogger(FileWatch.class.getName());

  private final List<Path> files;
  private final CountDownLatch closed = new CountDownLatch(1);
  private List<Map<String, Object>> known;
  private @Nullable Thread thread;

  public FileWatch(List<Path> files) {
    this.files = List.copyOf(files);
    this.known = stamps();
  }

  /** Calls {@code onChange} on the watch's own thread from now on. */
  public void start(String threadName, Runnable onChange) {
    thread = Thread.ofPlatform().daemon().name(threadName).start(() -> watch(onChange));
  }

  /** Stops the thread, and waits for a running callback, at most 2 s. */
  @Override
  public void close() {
    closed.countDown();
    Thread running = thread;
    if (running == null || running.equals(Thread.currentThread())) {
      return;
    }
    try {
      running.join(JOIN_MILLIS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch(Runnable onChange) {
    List<Map<String, Object>> before = known;
    try {
      while (!closed.await(STILL_MILLIS, TimeUnit.MILLISECONDS)) {
        List<Map<String, Object>> now = stamps();
        if (now.equals(before) && !now.equals(known)) {
          // Stored before the files are read, so that the next poll sees a change in between.
          known = now;
          call(onChange);
        }
        before = now;
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private void call(Runnable onChange) {
    try {
      onChange.run();
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.WARNING, "The callback for a change of " + files + " failed.", e);
    }
  }

  private List<Map<String, Object>> stamps() {
    return files.stream().map(FileWatch::stamp).toList();
  }

  /** Returns attributes that differ between two states of a file; empty if it does not exist. */
  private static Map<String, Object> stamp(Path file) {
    try {
      return Files.readAttributes(file, "fileKey,lastModifiedTime,size");
    } catch (IOException _) {
      return Map.of();
    }
  }
}
