package io.inferspan.ebpf.live;

import io.inferspan.ebpf.kernel.KernelSide;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;

/**
 * Closes the parts of a bridge in the reverse order of their creation. Idempotent if the parts are.
 */
final class CloseStack {

  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Adds a part. */
  <T extends AutoCloseable> T part(T part) {
    parts.push(part);
    return part;
  }

  /** Adds a thread, by a function that ends it and returns whether it ended. */
  void thread(BooleanSupplier end) {
    parts.push(
        () -> {
          if (!end.getAsBoolean()) {
            throw new IllegalStateException("a thread of the bridge did not end");
          }
        });
  }

  /**
   * Closes all parts; throws if a thread does not end, because it may still use the remaining
   * parts.
   */
  void close() {
    parts.forEach(CloseStack::close);
  }

  /**
   * Closes all parts, then the kernel side. If a thread does not end, only detaches the kernel
   * side, whose memory is freed when the process exits.
   */
  void undo(KernelSide kernel, Throwable cause) {
    try {
      close();
      kernel.withdraw();
      kernel.close();
    } catch (RuntimeException | Error unclosed) {
      cause.addSuppressed(unclosed);
      kernel.detach();
    }
  }

  private static void close(AutoCloseable part) {
    try {
      part.close();
    } catch (RuntimeException stuck) {
      throw stuck;
    } catch (Exception impossible) {
      throw new IllegalStateException("a part of the bridge could not be closed", impossible);
    }
  }
}
