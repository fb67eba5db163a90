package io.inferspan.ebpf;

import io.inferspan.ebpf.kernel.KernelSide;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/** What a bridge has opened, to be closed in the opposite order; closing twice does no harm. */
final class Opened {

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Remembers a part. */
  <T extends AutoCloseable> T part(T part) {
    parts.push(part);
    return part;
  }

  /** Remembers a thread, by what ends it and says whether that came about. */
  void thread(BooleanSupplier end) {
    parts.push(
        () -> {
          if (!end.getAsBoolean()) {
            throw new IllegalStateException("a thread of the bridge does not end");
          }
        });
  }

  /** Closes all; throws at a thread that does not end, since it may use what is behind it. */
  void close() {
    parts.forEach(Opened::close);
  }

  /** Closes all, and the kernel side last; what a thread may still use, the process's end frees. */
  void undo(KernelSide kernel, Throwable cause) {
    try {
      close();
      kernel.withdraw();
      kernel.close();
    } catch (RuntimeException | Error left) {
      cause.addSuppressed(left);
      kernel.detach();
    }
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (RuntimeException stuck) {
      throw stuck;
    } catch (Exception impossible) {
      throw new IllegalStateException("closing a part of the bridge", impossible);
    }
  }
}
