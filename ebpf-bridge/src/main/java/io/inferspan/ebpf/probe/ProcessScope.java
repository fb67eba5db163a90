package io.inferspan.ebpf.probe;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Selects processes by pid, name and cgroup, with their children, as {@code /proc} shows them. */
public final class ProcessScope {

  /** A longer chain of parents is a loop caused by reused pids. */
  private static final int MAX_GENERATIONS = 32;

  private final Choice choice;
  private final ProcessFiles processes;

  /**
   * The selection.
   *
   * @param everything whether every process is selected
   * @param pids processes by pid, with their children
   * @param commands processes by name, with their children
   * @param cgroup the path below the root of the hierarchy, such as {@code /serving}; empty for all
   */
  public record Choice(boolean everything, Set<Integer> pids, Set<String> commands, String cgroup) {

    /** Copies the sets. */
    public Choice {
      pids = Set.copyOf(pids);
      commands = Set.copyOf(commands);
    }
  }

  /** Creates a scope that reads this machine's {@code /proc}. */
  public ProcessScope(Choice choice) {
    this(choice, Path.of("/proc"));
  }

  ProcessScope(Choice choice, Path proc) {
    this.choice = choice;
    this.processes = new ProcessFiles(proc);
  }

  /** Returns whether every process is selected, so that the kernel needs no table. */
  public boolean isEverything() {
    return choice.everything();
  }

  /**
   * Returns whether a process can become selected without an event: as a child, or by a move into
   * the cgroup.
   */
  boolean growsUnseen() {
    return !choice.everything() || hasGroup();
  }

  /** Returns whether a cgroup is selected, so that a move can select a process. */
  boolean hasGroup() {
    return !choice.cgroup().isEmpty() && !choice.cgroup().equals("/");
  }

  /** Returns whether a process is selected. */
  public boolean includes(int pid) {
    return includes(pid, new HashMap<>());
  }

  /**
   * Returns whether a process is selected. Caches in {@code descends} which processes were chosen
   * or descend from a chosen one.
   */
  boolean includes(int pid, Map<Integer, Boolean> descends) {
    return isInGroup(pid) && (choice.everything() || descends(pid, MAX_GENERATIONS, descends));
  }

  /** Returns the pids of all processes now. */
  List<Integer> all() {
    return processes.all();
  }

  private boolean isInGroup(int pid) {
    if (!hasGroup()) {
      return true;
    }
    String wanted = choice.cgroup();
    String group = processes.cgroup(pid);
    return group.equals(wanted) || group.startsWith(wanted + "/");
  }

  private boolean descends(int pid, int generations, Map<Integer, Boolean> known) {
    if (pid <= 0 || generations == 0) {
      return false;
    }
    Boolean before = known.get(pid);
    boolean descends =
        before != null
            ? before
            : isChosen(pid) || descends(processes.parent(pid), generations - 1, known);
    known.put(pid, descends);
    return descends;
  }

  private boolean isChosen(int pid) {
    return choice.pids().contains(pid)
        || (!choice.commands().isEmpty()
            && processes.names(pid).stream().anyMatch(choice.commands()::contains));
  }
}
