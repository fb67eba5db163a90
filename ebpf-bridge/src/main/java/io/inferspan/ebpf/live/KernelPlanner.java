package io.inferspan.ebpf.live;

import io.inferspan.ebpf.BridgeConfig;
import io.inferspan.ebpf.BridgeScope;
import io.inferspan.ebpf.ContextSharing;
import io.inferspan.ebpf.EventFamily;
import io.inferspan.ebpf.kernel.KernelPlan;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.KernelSettings.Cgroup;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.SystemView;
import io.inferspan.ebpf.probe.ProcessScope;
import io.inferspan.ebpf.spans.FoldOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Converts the configuration into the settings of a bridge's parts. */
public final class KernelPlanner {

  private KernelPlanner() {}

  /** Returns the plan of what to load into the kernel. */
  public static KernelPlan plan(BridgeConfig config) {
    Set<String> objects = new HashSet<>();
    for (EventFamily family : config.families()) {
      objects.add(
          switch (family) {
            case CUDA, NCCL -> KernelSide.CALLS;
            case SYSCALLS -> KernelSide.CONTEXT;
            case SCHED -> "sched";
            case TCP -> "tcp";
            case CKP -> KernelSide.CKP;
          });
    }
    Set<ContextSharing> shared = config.sharedContexts();
    return new KernelPlan(
        objects,
        config.ringBytes(),
        KernelFeatures.probe(),
        SystemView.live().kernel(),
        new KernelPlan.Sharing(
            config.bpfFilesystem(),
            shared.contains(ContextSharing.READ),
            shared.contains(ContextSharing.PUBLISH)));
  }

  /** Returns the options for folding events into spans. */
  static FoldOptions folding(BridgeConfig config) {
    FoldOptions usual = FoldOptions.defaults();
    return new FoldOptions(
        config.singleFromNanos(),
        usual.firstFew(),
        config.allowsPaths(),
        usual.bounds(),
        usual.times());
  }

  /** Returns the settings of the loaded programs. */
  static KernelSettings.Options of(BridgeConfig config, int selfTgid, Cgroup cgroup) {
    int families = 0;
    for (EventFamily family : config.families()) {
      families |= flag(family);
    }
    return new KernelSettings.Options(
        families, config.scope().everything(), selfTgid, config.ignoreBelowNanos(), cgroup);
  }

  private static int flag(EventFamily family) {
    return switch (family) {
      case CUDA -> KernelSettings.CUDA;
      case NCCL -> KernelSettings.NCCL;
      case SYSCALLS -> KernelSettings.SYSCALLS;
      case SCHED -> KernelSettings.SCHED;
      case TCP -> KernelSettings.TCP;
      case CKP -> KernelSettings.CKP;
    };
  }

  /** Returns the processes to follow. */
  static ProcessScope.Choice choice(BridgeScope scope) {
    return new ProcessScope.Choice(
        scope.everything(), scope.pids(), scope.commands(), groupOf(scope.cgroup()));
  }

  /** Returns the cgroup by which the kernel's programs filter. */
  static Cgroup cgroup(BridgeScope scope) {
    if (scope.cgroup().isEmpty()) {
      return Cgroup.any();
    }
    Path below = belowRoot(scope.cgroup());
    try {
      Path directory = SystemView.cgroupRoot().resolve(below);
      long id = ((Number) Files.getAttribute(directory, "unix:ino")).longValue();
      return new Cgroup(id, below.toString().isEmpty() ? 0 : below.getNameCount());
    } catch (IOException | UnsupportedOperationException gone) {
      throw noGroup(scope.cgroup(), gone);
    }
  }

  /** Returns the cgroup's path from the root of the hierarchy, as in {@code /proc/PID/cgroup}. */
  private static String groupOf(String directory) {
    return directory.isEmpty() ? "" : "/" + belowRoot(directory);
  }

  private static Path belowRoot(String directory) {
    try {
      Path root = SystemView.cgroupRoot().toRealPath();
      Path group = Path.of(directory).toRealPath();
      if (group.startsWith(root) && Files.isDirectory(group)) {
        return root.relativize(group);
      }
    } catch (IOException | InvalidPathException absent) {
      throw noGroup(directory, absent);
    }
    throw noGroup(directory, null);
  }

  private static IllegalArgumentException noGroup(String directory, @Nullable Exception cause) {
    return new IllegalArgumentException(
        "the cgroup " + directory + " is not a directory below " + SystemView.cgroupRoot(), cause);
  }
}
