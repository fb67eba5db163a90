package io.inferspan.ebpf.support;

import static io.inferspan.ebpf.Prerequisite.available;
import static io.inferspan.ebpf.Prerequisite.limited;
import static io.inferspan.ebpf.Prerequisite.missing;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.Prerequisite;
import io.inferspan.ebpf.Prerequisite.State;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.linux.Capability;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.SystemView;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks the prerequisites of the bridge, in an order in which a missing one explains later ones.
 *
 * <p>Results are written for operators who do not know the kernel.
 */
public final class SupportCheck {

  private static final String AS_ROOT =
      "run as root, or with CAP_BPF and CAP_PERFMON (docker run --cap-add BPF --cap-add PERFMON,"
          + " setpriv --ambient-caps)";
  private static final String WITHOUT_LOCKDOWN =
      "boot with lockdown off: without the kernel parameter lockdown=, and without Secure Boot if"
          + " that turns it on";
  private static final String NEWER = "run on Linux 6.1 or newer";

  private final MachineFacts facts;
  private final SystemView system;
  private final List<Prerequisite> found = new ArrayList<>();

  private SupportCheck(MachineFacts facts) {
    this.facts = facts;
    this.system = facts.system();
  }

  /** Returns the support that a machine with these facts offers. */
  public static EbpfSupport of(MachineFacts facts) {
    return new SupportCheck(facts).verdict();
  }

  static boolean isSupported(String platform) {
    return platform.equals("Linux amd64") || platform.equals("Linux aarch64");
  }

  private EbpfSupport verdict() {
    if (platform() && nativeAccess()) {
      libbpf();
      kernel();
      types();
      privileges();
      maps();
      tracingPrograms();
      functionProbes();
      sleep();
      programTimes();
      bpfFilesystem();
      otherProcesses();
    }
    return found.stream()
        .filter(one -> one.state() == State.MISSING)
        .findFirst()
        .<EbpfSupport>map(first -> unavailable(first))
        .orElseGet(() -> new EbpfSupport.Available(found));
  }

  private EbpfSupport unavailable(Prerequisite first) {
    String reason = first.name() + ": " + first.found();
    return new EbpfSupport.Unavailable(reason, first.remedy(), found);
  }

  private boolean platform() {
    boolean supported = isSupported(facts.platform());
    found.add(
        supported
            ? available("platform", facts.platform())
            : missing("platform", facts.platform(), "run on Linux on x86-64 or AArch64"));
    return supported;
  }

  private boolean nativeAccess() {
    boolean allowed = facts.nativeAccess().isEmpty();
    found.add(
        allowed
            ? available("native access", "allowed")
            : missing(
                "native access",
                facts.nativeAccess(),
                "start Java with --enable-native-access=ALL-UNNAMED, or =io.inferspan.ebpf on the"
                    + " module path"));
    return allowed;
  }

  private void libbpf() {
    MachineFacts.Library libbpf = facts.libbpf();
    found.add(
        libbpf.absence().isEmpty()
            ? available("libbpf", libbpf.version())
            : missing("libbpf", libbpf.absence(), libbpf.remedy()));
  }

  /**
   * Requires Linux 5.14, because older kernels lack task storage for tracing programs, or programs
   * that user space runs.
   */
  private void kernel() {
    String version = "Linux " + system.kernel();
    found.add(
        system.kernel().atLeast(5, 14)
            ? available("kernel", version)
            : missing("kernel", version + " is too old", NEWER));
  }

  private void types() {
    found.add(
        system.describesItsTypes()
            ? available("kernel types", "/sys/kernel/btf/vmlinux")
            : missing(
                "kernel types",
                "no readable /sys/kernel/btf/vmlinux, so libbpf cannot adapt the programs to this kernel",
                "mount sysfs, or run a kernel built with CONFIG_DEBUG_INFO_BTF"));
  }

  private void privileges() {
    boolean all = system.has(Capability.SYS_ADMIN);
    boolean enough = system.has(Capability.BPF) && system.has(Capability.PERFMON);
    if (all || enough) {
      found.add(available("privileges", all ? "CAP_SYS_ADMIN" : "CAP_BPF and CAP_PERFMON"));
    } else {
      found.add(
          missing("privileges", "neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN", AS_ROOT));
    }
  }

  private void maps() {
    int error = facts.features().error(KernelFeature.MAPS);
    if (error == 0) {
      found.add(available("bpf(2)", "allowed"));
    } else if (Errno.EPERM.is(error) && system.filtersSystemCalls()) {
      found.add(
          missing(
              "bpf(2)",
              "refused, and a seccomp filter is active",
              "allow bpf and perf_event_open in the container's seccomp profile"));
    } else {
      found.add(refused("bpf(2)", KernelFeature.MAPS));
    }
  }

  private void tracingPrograms() {
    String name = "tracing programs";
    int error = facts.features().error(KernelFeature.PROGRAMS);
    if (error == 0) {
      found.add(available(name, "works"));
    } else {
      found.add(refused(name, KernelFeature.PROGRAMS));
    }
  }

  private Prerequisite refused(String name, KernelFeature feature) {
    String error = "refused with " + Errno.describe(facts.features().error(feature));
    if (!facts.features().forbidden(feature)) {
      return missing(name, error, NEWER);
    }
    String lockdown = system.lockdown();
    return lockdown.isEmpty()
        ? missing(name, error, AS_ROOT)
        : missing(name, error + ", lockdown is " + lockdown, WITHOUT_LOCKDOWN);
  }

  private void functionProbes() {
    String name = "function probes";
    switch (facts.features().uprobes()) {
      case SESSION -> found.add(available(name, "uprobe sessions"));
      case MULTI ->
          found.add(
              limited(
                  name,
                  "uprobe_multi, two programs per call",
                  "run on Linux 6.13 or newer, which needs one"));
      case PERF -> found.add(perfProbes(name));
    }
  }

  private void sleep() {
    found.add(
        facts.features().uprobes() == UprobeMode.PERF
            ? limited(
                "sleep",
                "probes stay attached, because detaching them from libraries is slow",
                "run on Linux 6.6 or newer")
            : available("sleep", "probes are detached while no request is sampled"));
  }

  /** Checks whether the kernel can time programs. For a budget, the programs time themselves. */
  private void programTimes() {
    found.add(
        system.has(Capability.SYS_ADMIN)
            ? available("program run time", "measured by the kernel")
            : limited(
                "program run time",
                "not available in top and meters; a budget works without it",
                "run with CAP_SYS_ADMIN"));
  }

  private Prerequisite perfProbes(String name) {
    return facts.features().has(KernelFeature.PERF_UPROBES)
        ? limited(
            name,
            "one perf event per function, which takes 0.1 s to detach",
            "run on Linux 6.6 or newer")
        : limited(
            name,
            "none, so no CUDA and no NCCL events: "
                + Errno.describe(facts.features().error(KernelFeature.PERF_UPROBES)),
            "run with CAP_SYS_ADMIN, or on Linux 6.6 or newer");
  }

  private void bpfFilesystem() {
    found.add(
        system.hasBpfFilesystem()
            ? available("bpf filesystem", "/sys/fs/bpf")
            : limited(
                "bpf filesystem",
                "not mounted, so no contexts are exchanged with other OpenTelemetry tools",
                "mount -t bpf bpf /sys/fs/bpf"));
  }

  private void otherProcesses() {
    found.add(
        system.has(Capability.SYS_PTRACE)
            ? available("other processes", "their libraries can be found")
            : limited(
                "other processes",
                "libraries of other users' processes cannot be found",
                "run with CAP_SYS_PTRACE, unless only this process is observed"));
  }
}
