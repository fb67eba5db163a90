package io.inferspan.ebpf.probe;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Which processes are of interest, by what {@code /proc} tells of them and of their parents. */
public final class ProcessScope {

  /** More generations than that are no family but a loop of numbers used again. */
  private static final int MAX_GENERATIONS = 32;

  private final Choice choice;
  private final ProcessFiles processes;

  /**
   * What was chosen.
   *
   * @param everything whether it is every process
   * @param pids processes by number, with those that they start
   * @param commands processes by name, with those that they start
   * @param cgroup below the root of the hierarchy, such as {@code /serving}; empty for all
   */
  public record Choice(boolean everything, Set<Integer> pids, Set<String> commands, String cgroup) {

    /** Copies the sets. */
    public Choice {
      pids = Set.copyOf(pids);
      commands = Set.copyOf(commands);
    }
  }

  /** Asks this machine's {@code /proc}. */
  public ProcessScope(Choice choice) {
    this(choice, Path.of("/proc"));
  }

  ProcessScope(Choice choice, Path proc) {
    this.choice = choice;
    this.processes = new ProcessFiles(proc);
  }

  /** Whether it is so for every process, so that nobody needs to be told of. */
  public boolean isEverything() {
    return choice.everything();
  }

  /**
   * Whether a process may come to be of interest without a word: it is born to one that is, or is
   * moved to the group.
   */
  boolean growsUnseen() {
    return !choice.everything() || hasGroup();
  }

  private boolean hasGroup() {
    return !choice.cgroup().isEmpty() && !choice.cgroup().equals("/");
  }

  /** Whether a process is of interest. */
  public boolean includes(int pid) {
    return isInGroup(pid) && (choice.everything() || descends(pid));
  }

  /** The processes that there are now. */
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

  private boolean descends(int pid) {
    int ancestor = pid;
    for (int i = 0; i < MAX_GENERATIONS && ancestor > 0; i++) {
      if (isChosen(ancestor)) {
        return true;
      }
      ancestor = processes.parent(ancestor);
    }
    return false;
  }

  private boolean isChosen(int pid) {
    return choice.pids().contains(pid)
        || (!choice.commands().isEmpty()
            && processes.names(pid).stream().anyMatch(choice.commands()::contains));
  }
}
