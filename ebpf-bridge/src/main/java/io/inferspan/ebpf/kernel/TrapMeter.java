package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.UprobeTarget;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.linux.OwnCode;
import io.inferspan.ebpf.linux.SystemCallException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;

/**
 * Measures {@link TrapTimes} with empty programs on a function of this process, in a few
 * milliseconds of CPU time.
 */
public final class TrapMeter {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");

  /**
   * How much longer a trap takes between other work than in a loop, because it misses the CPU's
   * caches.
   */
  private static final double OUTSIDE_A_LOOP = 1.5;

  private final UprobeMode mode;
  private final double unwatchedNanos;

  private TrapMeter(UprobeMode mode, double unwatchedNanos) {
    this.mode = mode == UprobeMode.SESSION ? UprobeMode.MULTI : mode;
    this.unwatchedNanos = unwatchedNanos;
  }

  /**
   * Measures how long a system call takes before the bridge attaches its programs to system calls.
   */
  public static TrapMeter beforeAttaching(UprobeMode mode) {
    try (OwnCode own = OwnCode.map()) {
      return new TrapMeter(mode, own.systemCallNanos());
    } catch (SystemCallException | UncheckedIOException refused) {
      LOGGER.log(
          Level.DEBUG,
          "The cost of probes is not measured, because the code for it could not be mapped",
          refused);
      return new TrapMeter(mode, 0);
    }
  }

  /** Measures the times now, while the bridge watches system calls. */
  public TrapTimes measure() {
    if (unwatchedNanos == 0) {
      return TrapTimes.ASSUMED;
    }
    try (OwnCode own = OwnCode.map()) {
      return measure(own);
    } catch (BpfException | SystemCallException | UncheckedIOException refused) {
      LOGGER.log(Level.DEBUG, "The cost of probes is assumed, as measuring it failed", refused);
      return TrapTimes.ASSUMED;
    }
  }

  TrapTimes measure(OwnCode own) {
    double systemCall = own.systemCallNanos();
    double call = own.callNanos();
    try (BpfObject object = BpfObject.open("trap", Resources.object("trap"))) {
      BpfProgram enter = object.program("trap_enter").via(mode);
      BpfProgram leave = object.program("trap_return").via(mode);
      object.load();
      try (BpfLink _ = attach(enter, own, false)) {
        double entered = own.callNanos();
        try (BpfLink _ = attach(leave, own, true)) {
          double returned = own.callNanos();
          return new TrapTimes(
              outsideALoop(entered - call),
              outsideALoop(returned - entered),
              outsideALoop(systemCall - unwatchedNanos) / 2,
              true);
        }
      }
    }
  }

  private static double outsideALoop(double nanos) {
    return Math.max(0, nanos) * OUTSIDE_A_LOOP;
  }

  private static BpfLink attach(BpfProgram program, OwnCode own, boolean atReturn) {
    int self = (int) ProcessHandle.current().pid();
    return program.attachUprobes(
        new UprobeTarget(own.path(), List.of(new Site(0, 0)), self, atReturn));
  }
}
