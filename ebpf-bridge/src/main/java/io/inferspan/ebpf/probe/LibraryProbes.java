package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.linux.SystemCallException;
import io.inferspan.ebpf.probe.ProcessFiles.FileId;
import io.inferspan.ebpf.probe.ProcessFiles.Identity;
import io.inferspan.ebpf.probe.ProcessFiles.Mapped;
import io.inferspan.ebpf.probe.ProcessFiles.ProgramFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The libraries that are watched now: each file once, for as long as a known process maps it.
 *
 * <p>A probe stands in the file and hits in every process that maps it, so that many processes of
 * one image cost one attachment. Attaching and detaching take milliseconds: not for a request's
 * thread.
 */
public final class LibraryProbes implements AutoCloseable {

  /** Of one machine; past it, files are not watched and counted. */
  private static final int MAX_LIBRARIES = 256;

  /** Programs known to have nothing to watch; past it, they are looked into again. */
  private static final int MAX_BARREN = 1_024;

  private static final String NOTHING = "no known function";

  private final WatchedFunctions functions;
  private final Attacher attacher;
  private final ProcessFiles processes;
  private final Map<FileId, WatchedLibrary> libraries = new HashMap<>();
  private final Set<ProgramFile> barren = new HashSet<>();
  private boolean resting;
  private long failures;

  /**
   * What became of a library.
   *
   * @param outcome how many functions are watched, or why none is
   * @param processes how many known processes map it
   */
  public record Library(String outcome, int processes) {}

  /** Watches these functions of this machine's processes. */
  public LibraryProbes(WatchedFunctions functions, Attacher attacher) {
    this(functions, attacher, Path.of("/proc"));
  }

  LibraryProbes(WatchedFunctions functions, Attacher attacher, Path proc) {
    this.functions = functions;
    this.attacher = attacher;
    this.processes = new ProcessFiles(proc);
  }

  /** Looks what a process has mapped by now; also for one that was looked at before. */
  public synchronized void look(int pid) {
    Identity process = processes.find(pid);
    if (process == null) {
      forget(pid);
      return;
    }
    String program = functions.watchesPrograms() ? processes.program(pid) : "";
    processes
        .libraries(process, name -> functions.watches(name) || name.equals(program))
        .forEach((file, library) -> add(file, library, process));
    // Whoever bore the number before is gone.
    retain(user -> user.pid() != pid || user.equals(process));
  }

  /**
   * Looks at a process that has begun to run another program, and has no library yet: those that it
   * maps are told of one by one. Somewhere a program begins all the time, mostly one of a few.
   */
  public synchronized void lookAtProgram(int pid) {
    if (!functions.watchesPrograms()) {
      return;
    }
    ProgramFile program = processes.programFile(pid);
    if (program == null || barren.contains(program)) {
      return;
    }
    look(pid);
    // One that ended meanwhile was not looked into.
    boolean looked = processes.find(pid) != null && program.equals(processes.programFile(pid));
    if (looked && !isWatchedFor(pid)) {
      if (barren.size() >= MAX_BARREN) {
        barren.clear();
      }
      barren.add(program);
    }
  }

  /** Whether something is watched for a process. */
  synchronized boolean isWatchedFor(int pid) {
    return libraries.values().stream()
        .filter(WatchedLibrary::isWatched)
        .anyMatch(library -> library.users().stream().anyMatch(user -> user.pid() == pid));
  }

  /** Whether anything is remembered of a process. */
  synchronized boolean remembers(int pid) {
    return libraries.values().stream()
        .anyMatch(library -> library.users().stream().anyMatch(user -> user.pid() == pid));
  }

  /** Stops to watch for a process that ended. */
  public synchronized void forget(int pid) {
    retain(user -> user.pid() != pid);
  }

  /** Forgets processes that ended without a word, also if their number is another's by now. */
  public synchronized void sweep() {
    retain(user -> user.equals(processes.find(user.pid())));
  }

  /** What is watched, and what could not be; programs without a word for us are not told of. */
  public synchronized List<Library> libraries() {
    return libraries.values().stream()
        .filter(watched -> !watched.outcome().endsWith(NOTHING) || !functions.watchesPrograms())
        .map(watched -> new Library(watched.outcome(), watched.users().size()))
        .toList();
  }

  /** How many libraries could not be watched. */
  public synchronized long failures() {
    return failures;
  }

  /** Takes the probes off for a while; which libraries there are is followed meanwhile. */
  public synchronized void rest() {
    resting = true;
    libraries.values().forEach(WatchedLibrary::rest);
  }

  /** Puts them back, and on the libraries that were found since. */
  public synchronized void rouse() {
    resting = false;
    for (WatchedLibrary library : libraries.values()) {
      if (!library.rouse(attacher)) {
        failures++;
      }
    }
  }

  @Override
  public synchronized void close() {
    retain(user -> false);
  }

  private void add(FileId file, Mapped library, Identity user) {
    if (libraries.containsKey(file) || libraries.size() < MAX_LIBRARIES) {
      libraries.computeIfAbsent(file, id -> watch(library)).users().add(user);
    } else {
      failures++;
    }
  }

  private void retain(Predicate<Identity> wanted) {
    for (Iterator<WatchedLibrary> each = libraries.values().iterator(); each.hasNext(); ) {
      WatchedLibrary library = each.next();
      library.users().removeIf(user -> !wanted.test(user));
      if (library.users().isEmpty()) {
        each.remove();
        library.close();
      }
    }
  }

  /** A library that cannot be watched is remembered, and not tried for each of its processes. */
  private WatchedLibrary watch(Mapped library) {
    try {
      List<Site> sites = functions.sitesIn(library.name(), ElfSymbols.of(library.path()));
      if (sites.isEmpty()) {
        return WatchedLibrary.without(library.name(), NOTHING);
      }
      WatchedLibrary watched = WatchedLibrary.of(library, sites);
      if (!resting && !watched.rouse(attacher)) {
        failures++;
      }
      return watched;
    } catch (IOException | SystemCallException refused) {
      failures++;
      return WatchedLibrary.without(library.name(), String.valueOf(refused.getMessage()));
    }
  }
}
