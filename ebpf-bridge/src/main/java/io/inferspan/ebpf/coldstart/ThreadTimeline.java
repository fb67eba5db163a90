package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.Family;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Divides a thread's time into parts, each in one state. */
final class ThreadTimeline {

  private static final int BREAKS_PER_INTERVAL = 20;

  private static final Pattern NUMBER = Pattern.compile("[-_:#/ ]*[0-9]+$");

  private final Id id;
  private final List<Part> parts = new ArrayList<>();

  /** Time in one state; {@code call} is the call that it waited in, or empty. */
  record Part(ThreadState state, String call, long startNanos, long endNanos) {

    long nanos() {
      return endNanos - startNanos;
    }

    private boolean isLike(Part other) {
      return state.isOnCpu() ? other.state.isOnCpu() : activity().equals(other.activity());
    }

    private Activity activity() {
      return new Activity(state, call);
    }
  }

  /** The identity of a thread; the name may be empty. */
  record Id(int pid, int tid, String name) {

    boolean isMain() {
      return tid == pid;
    }

    /** Returns the name without a trailing number. */
    String family() {
      String family = NUMBER.matcher(name).replaceFirst("");
      return family.isEmpty() ? "unnamed" : family;
    }

    @Override
    public String toString() {
      return isMain() ? "process " + pid : "thread %d (%s) of process %d".formatted(tid, name, pid);
    }
  }

  /** A thread's state, and the call that it waits in; the call may be empty. */
  record Activity(ThreadState state, String call) {}

  /**
   * A thread that exists at the end of the observation. A wait is reported when it ends, so the
   * wait that the thread is still in is read from {@code /proc}.
   *
   * @param last what it waits for; null unless it waits in a system call
   */
  record Task(String name, @Nullable Activity last) {

    /** Reads the threads of a process and its descendants, by tid. */
    static Map<Integer, Task> of(ProcessHandle root) {
      Map<Integer, Task> tasks = new HashMap<>();
      Stream.concat(Stream.of(root), root.descendants())
          .map(process -> Path.of("/proc", Long.toString(process.pid()), "task"))
          .forEach(folder -> read(folder, tasks));
      return tasks;
    }

    private static void read(Path folder, Map<Integer, Task> into) {
      try (DirectoryStream<Path> tasks = Files.newDirectoryStream(folder)) {
        for (Path task : tasks) {
          int tid = Integer.parseInt(String.valueOf(task.getFileName()));
          into.put(tid, new Task(Files.readString(task.resolve("comm")).strip(), last(task)));
        }
      } catch (IOException | DirectoryIteratorException gone) {
        return;
      }
    }

    private static @Nullable Activity last(Path task) throws IOException {
      String call = Files.readString(task.resolve("syscall")).split(" ", 2)[0].strip();
      if (!call.matches("[0-9]+")) { // it runs, or waits outside of a system call
        return null;
      }
      long numberPlusOne = Long.parseLong(call) + 1;
      String name = CallNumber.name(numberPlusOne);
      return new Activity(ThreadState.inCall(numberPlusOne), name == null ? "" : name);
    }
  }

  /**
   * Divides the time from start to end by the thread's events, which are sorted by start.
   *
   * @param last what the thread waits for after its last event; null if unknown
   */
  ThreadTimeline(
      Id id, List<Event> events, long startNanos, long endNanos, @Nullable Activity last) {
    this.id = id;
    TreeSet<Long> bounds = new TreeSet<>(List.of(startNanos, endNanos));
    for (Event event : events) {
      bounds.add(Math.clamp(event.startNanos(), startNanos, endNanos));
      bounds.add(Math.clamp(event.endNanos(), startNanos, endNanos));
    }
    long seenUntil =
        events.stream().mapToLong(Event::endNanos).max().stream()
            .map(nanos -> Math.clamp(nanos, startNanos, endNanos))
            .findFirst()
            .orElse(startNanos);
    List<Event> open = new ArrayList<>();
    int next = 0;
    long from = startNanos;
    for (long to : bounds.tailSet(startNanos, false)) {
      while (next < events.size() && events.get(next).startNanos() <= from) {
        open.add(events.get(next++));
      }
      long moment = from;
      open.removeIf(event -> event.endNanos() <= moment);
      parts.add(
          last != null && from >= seenUntil
              ? new Part(last.state(), last.call(), from, to)
              : part(open, from, to));
      from = to;
    }
  }

  private static Part part(List<Event> open, long from, long to) {
    Event wait = first(open, Family.SCHED);
    Event call = first(open, Family.SYSCALL);
    Event cuda = first(open, Family.CUDA);
    Event library = cuda != null ? cuda : first(open, Family.NCCL);
    ThreadState state = ThreadState.of(wait, library, call);
    return new Part(state, call(state, wait, library), from, to);
  }

  private static String call(ThreadState state, @Nullable Event wait, @Nullable Event library) {
    if (state == ThreadState.DEVICE && library != null) {
      Long id = CallIds.of(library.kind());
      return id == null ? "" : CallIds.name(id);
    }
    String name = wait == null ? null : CallNumber.name(wait.extra());
    return name == null ? "" : name;
  }

  private static @Nullable Event first(List<Event> open, Family family) {
    return open.stream()
        .filter(event -> event.kind().family() == family)
        .min(Comparator.comparingLong(Event::startNanos))
        .orElse(null);
  }

  Id id() {
    return id;
  }

  /** Returns the parts in order, without gaps. */
  List<Part> parts() {
    return parts;
  }

  long nanos() {
    return parts.stream().mapToLong(Part::nanos).sum();
  }

  /**
   * Returns the intervals of at least this length in which the thread ran or waited in one call,
   * ignoring interruptions of up to 5 % of {@code leastNanos}.
   */
  List<Part> intervals(long leastNanos) {
    long brief = leastNanos / BREAKS_PER_INTERVAL;
    List<Part> runs = new ArrayList<>();
    for (Part part : parts) {
      int like = runs.size() - 1;
      while (like >= 0
          && part.startNanos() - runs.get(like).endNanos() < brief
          && !runs.get(like).isLike(part)) {
        like--;
      }
      if (like < 0 || part.startNanos() - runs.get(like).endNanos() >= brief) {
        runs.add(part);
        continue;
      }
      Part first = runs.get(like);
      runs.subList(like, runs.size()).clear();
      runs.add(new Part(first.state(), first.call(), first.startNanos(), part.endNanos()));
    }
    runs.removeIf(run -> run.nanos() < leastNanos);
    return runs;
  }

  /** Returns the time in states that are {@linkplain ThreadState#isBusy busy}. */
  long busyNanos(long from, long to) {
    return busyNanos(states(from, to));
  }

  static long busyNanos(Map<ThreadState, Long> states) {
    return states.entrySet().stream()
        .filter(each -> each.getKey().isBusy())
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /** Returns the time in each state. */
  Map<ThreadState, Long> states(long from, long to) {
    Map<ThreadState, Long> states = new EnumMap<>(ThreadState.class);
    for (Part part : parts) {
      long nanos = Math.min(part.endNanos(), to) - Math.max(part.startNanos(), from);
      if (nanos > 0) {
        states.merge(part.state(), nanos, Long::sum);
      }
    }
    return states;
  }

  /** Returns the state and call that took the most time. */
  Activity longestActivity(long from, long to) {
    Map<Activity, Long> sums = new HashMap<>();
    for (Part part : parts) {
      long nanos = Math.min(part.endNanos(), to) - Math.max(part.startNanos(), from);
      if (nanos > 0) {
        sums.merge(part.activity(), nanos, Long::sum);
      }
    }
    return sums.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse(new Activity(ThreadState.SLEEP, ""));
  }
}
