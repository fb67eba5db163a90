package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.linux.Threads;
import io.inferspan.ebpf.probe.ProcessIdentity;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The pid of this process, and the tids of its threads, as the kernel's programs see them.
 *
 * <p>In a PID namespace, such as a container's, they differ from those that the process sees, so a
 * BPF program reads them.
 */
public final class Identity implements AutoCloseable {

  private static final int TID_AT = 4;
  private static final int BYTES = 8;

  private final int tgid;
  private @Nullable BpfObject loaded;

  private Identity(BpfObject object) {
    this.loaded = object;
    this.tgid = read(object)[0];
  }

  static Identity load() {
    BpfObject object = BpfObject.open("identity", Resources.object("identity"));
    Identity identity;
    try {
      identity = new Identity(object.load());
    } catch (RuntimeException | Error refused) {
      object.close();
      throw refused;
    }
    if (!identity.isTranslated()) {
      identity.close();
    }
    return identity;
  }

  /** Returns the pid of this process. */
  public int tgid() {
    return tgid;
  }

  /** Returns the tid of the calling thread, which must be a platform thread. */
  public int currentTid() {
    BpfObject object = loaded;
    return object == null ? Threads.currentTid() : read(object)[1];
  }

  /** Returns whether pids in {@code /proc} differ from those in the kernel's events. */
  public boolean isTranslated() {
    return tgid != ProcessHandle.current().pid();
  }

  /** Returns a process's identity. If pids are translated, only this process can be found. */
  public ProcessIdentity processOf(int process) {
    if (process == tgid) {
      return ProcessIdentity.of((int) ProcessHandle.current().pid());
    }
    return isTranslated() ? ProcessIdentity.UNKNOWN : ProcessIdentity.of(process);
  }

  private static int[] read(BpfObject object) {
    BpfProgram program = object.program("who_am_i");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ids = arena.allocate(BYTES, Integer.BYTES);
      program.run(ids);
      return new int[] {ids.get(JAVA_INT, 0), ids.get(JAVA_INT, TID_AT)};
    }
  }

  @Override
  public void close() {
    BpfObject object = loaded;
    loaded = null;
    if (object != null) {
      object.close();
    }
  }
}
