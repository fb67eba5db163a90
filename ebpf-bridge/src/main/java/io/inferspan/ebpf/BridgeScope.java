package io.inferspan.ebpf;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Selects the processes to observe, in addition to this process's own threads.
 *
 * <p>Children of a selected process are selected, too. A cgroup narrows the selection.
 *
 * @param everything whether every process that receives a {@code traceparent} is observed
 * @param pids the pids of selected processes
 * @param commands the names of selected processes, of their executables, or of the scripts that
 *     they run
 * @param cgroup a directory of the cgroup v2 hierarchy; empty for any cgroup
 */
public record BridgeScope(
    boolean everything, Set<Integer> pids, Set<String> commands, String cgroup) {

  private static final String ALLOWED =
      "must be everything, own, or a list of pid:NUMBER, command:NAME and cgroup:DIRECTORY";

  /** Copies the sets. */
  public BridgeScope {
    pids = Set.copyOf(pids);
    commands = Set.copyOf(commands);
    if (pids.stream().anyMatch(pid -> pid <= 0)) {
      throw new IllegalArgumentException("pids must be above 0, but are " + pids);
    }
  }

  /** Returns a scope with every process that receives a request with a {@code traceparent}. */
  public static BridgeScope all() {
    return new BridgeScope(true, Set.of(), Set.of(), "");
  }

  /** Returns a scope without any process other than this one. */
  public static BridgeScope own() {
    return new BridgeScope(false, Set.of(), Set.of(), "");
  }

  /** Parses a setting such as {@code command:python3,cgroup:/sys/fs/cgroup/serving}. */
  public static BridgeScope parse(String setting) {
    if (setting.equals("everything")) {
      return all();
    }
    if (setting.equals("own")) {
      return own();
    }
    Set<Integer> pids = new LinkedHashSet<>();
    Set<String> commands = new LinkedHashSet<>();
    String cgroup = "";
    for (String item : setting.split(",", -1)) {
      String[] parts = item.strip().split(":", 2);
      if (parts.length < 2 || parts[1].isBlank()) {
        throw new IllegalArgumentException("'" + item.strip() + "' " + ALLOWED);
      }
      switch (parts[0]) {
        case "pid" -> pids.add(number(parts[1]));
        case "command" -> commands.add(parts[1]);
        case "cgroup" -> cgroup = parts[1];
        default -> throw new IllegalArgumentException("'" + item.strip() + "' " + ALLOWED);
      }
    }
    return new BridgeScope(pids.isEmpty() && commands.isEmpty(), pids, commands, cgroup);
  }

  private static int number(String text) {
    if (!text.matches("[1-9][0-9]{0,8}")) {
      throw new IllegalArgumentException("'" + text + "' is not a pid");
    }
    return Integer.parseInt(text);
  }
}
