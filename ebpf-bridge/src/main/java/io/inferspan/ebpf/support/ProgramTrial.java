package io.inferspan.ebpf.support;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toList;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.Prerequisite;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.kernel.ProgramState;
import io.inferspan.ebpf.kernel.TrapTimes;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.live.KernelPlanner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * Loads, attaches and detaches the bridge's programs, to find out what the kernel accepts.
 *
 * <p>Neither the kernel's features nor its version determine which programs it accepts, because the
 * verifier differs between kernels.
 */
public final class ProgramTrial {

  private static final String REPORT =
      "use a kernel that the bridge's README lists, and report this line and the kernel's"
          + " version to the project";

  private ProgramTrial() {}

  /**
   * Returns the support, with a prerequisite for each BPF object and one for the cost of a probe.
   */
  public static EbpfSupport on(EbpfSupport.Available machine) {
    List<Prerequisite> all = new ArrayList<>(machine.prerequisites());
    try (KernelSide kernel = KernelSide.load(KernelPlanner.plan(BridgeConfig.defaults()))) {
      all.addAll(rows(kernel.programs()));
      all.add(traps(kernel.traps().measure()));
      return new EbpfSupport.Available(all);
    } catch (BpfException refused) {
      all.add(Prerequisite.missing("programs", refused.reason(), REPORT));
      return new EbpfSupport.Unavailable("programs: " + refused.reason(), REPORT, all);
    }
  }

  static List<Prerequisite> rows(List<ProgramState> programs) {
    return programs.stream()
        .collect(groupingBy(ProgramState::object, LinkedHashMap::new, toList()))
        .entrySet()
        .stream()
        .map(object -> row("programs: " + object.getKey(), object.getValue()))
        .toList();
  }

  /** Returns what a budget charges for each probe. */
  static Prerequisite traps(TrapTimes traps) {
    String name = "cost of a probe";
    return traps.measured()
        ? Prerequisite.available(name, traps.toString())
        : Prerequisite.limited(name, "not measured; a budget assumes " + traps, "");
  }

  private static Prerequisite row(String name, List<ProgramState> programs) {
    List<ProgramState> refused = programs.stream().filter(one -> !one.inPlace()).toList();
    if (refused.isEmpty()) {
      return Prerequisite.available(
          name, programs.stream().map(ProgramState::name).collect(joining(", ")));
    }
    String problems =
        refused.stream().map(one -> one.name() + ": " + one.problem()).collect(joining("; "));
    boolean isTooOld = refused.stream().allMatch(one -> one.problem().startsWith("needs Linux"));
    return Prerequisite.limited(name, "without " + problems, isTooOld ? "" : REPORT);
  }
}
