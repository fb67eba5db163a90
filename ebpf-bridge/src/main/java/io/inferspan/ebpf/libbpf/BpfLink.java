package io.inferspan.ebpf.libbpf;

import io.inferspan.ebpf.linux.FileDescriptor;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** An attached program. Closing the link detaches the program, as does the end of this process. */
public final class BpfLink implements AutoCloseable {

  private final Runnable detach;
  private final AtomicBoolean closed = new AtomicBoolean();

  private BpfLink(Runnable detach) {
    this.detach = detach;
  }

  static BpfLink made(Libbpf libbpf, long link) {
    return new BpfLink(() -> libbpf.callInt(LibbpfFunction.BPF_LINK__DESTROY, link));
  }

  static BpfLink open(FileDescriptor fd) {
    return new BpfLink(fd::close);
  }

  /** Combines several links into one, closed in the given order. */
  public static BpfLink all(List<BpfLink> links) {
    List<BpfLink> own = List.copyOf(links);
    return new BpfLink(() -> own.forEach(BpfLink::close));
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      detach.run();
    }
  }
}
