package io.inferspan.ebpf.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Whom the agent watches.
 *
 * @param scope as the setting {@code INFERSPAN_EBPF_SCOPE} says it; empty where the command line
 *     says nothing, and that setting holds
 */
record Targets(String scope) {

  /** Gathers what the options say. */
  static final class Builder {

    private final List<String> items = new ArrayList<>();
    private boolean cgroupGiven;

    void pids(String list) throws UsageException {
      for (String pid : list.split(",", -1)) {
        if (!pid.strip().matches("[1-9][0-9]{0,8}")) {
          throw new UsageException("--pid " + list + ": '" + pid + "' is no process number");
        }
        if (!Files.isDirectory(Path.of("/proc", pid.strip()))) {
          throw new UsageException("--pid " + list + ": there is no process " + pid.strip());
        }
        items.add("pid:" + pid.strip());
      }
    }

    void command(String name) throws UsageException {
      if (name.contains(",") || name.contains("/")) {
        throw new UsageException(
            "--command " + name + ": must be one name, without a directory; repeat for others");
      }
      items.add("command:" + name);
    }

    void cgroup(String directory) throws UsageException {
      if (cgroupGiven) {
        throw new UsageException("--cgroup " + directory + ": only one can be given");
      }
      if (directory.contains(",") || !isCgroup(directory)) {
        throw new UsageException(
            "--cgroup "
                + directory
                + ": must be a directory of the cgroup v2 hierarchy, below /sys/fs/cgroup");
      }
      cgroupGiven = true;
      items.add("cgroup:" + directory);
    }

    private static boolean isCgroup(String directory) {
      // The older hierarchies have cgroup.procs as well, but not this.
      return Files.exists(Path.of(directory, "cgroup.controllers"));
    }

    Targets build() {
      return new Targets(String.join(",", items));
    }
  }
}
