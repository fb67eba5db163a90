package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.linux.SystemCallException;
import io.inferspan.ebpf.probe.ProcessFiles.FileId;
import io.inferspan.ebpf.probe.ProcessFiles.Identity;
import io.inferspan.ebpf.probe.ProcessFiles.Mapped;
import io.inferspan.ebpf.probe.ProcessFiles.ProgramFile;
import io.inferspan.ebpf.wire.EventClass;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Attaches probes to libraries: once per file, while a known process maps it.
 *
 * <p>A probe belongs to the file and is hit by every process that maps it, so many processes of one
 * container image need one attachment. Attaching and detaching take milliseconds, so do not call
 * these methods on a request's thread.
 */
public final class LibraryProbes implements AutoCloseable {

  /** The limit of libraries; further ones are counted as failures. */
  private static final int MAX_LIBRARIES = 256;

  /**
   * The limit of cached executables without functions to observe; the cache is cleared when it is
   * reached.
   */
  private static final int MAX_WITHOUT_LIBRARIES = 1_024;

  private static final String NOTHING = "no known function";

  private final WatchedFunctions functions;
  private final Attacher attacher;
  private final ProcessFiles processes;
  private final Map<FileId, WatchedLibrary> libraries = new HashMap<>();
  private final Set<ProgramFile> withoutLibraries = new HashSet<>();
  private final Set<EventClass> paused = EnumSet.noneOf(EventClass.class);
  private long failures;

  /**
   * The state of a library.
   *
   * @param outcome the library's name and the number of observed functions, or why there are none
   * @param processes the number of known processes that map it
   */
  public record Library(String outcome, int processes) {}

  /** Creates probes for these functions in processes of this machine. */
  public LibraryProbes(WatchedFunctions functions, Attacher attacher) {
    this(functions, attacher, Path.of("/proc"));
  }

  LibraryProbes(WatchedFunctions functions, Attacher attacher, Path proc) {
    this.functions = functions;
    this.attacher = attacher;
    this.processes = new ProcessFiles(proc);
  }

  /** Examines the libraries that a process maps now; may be called again for the same process. */
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
    // The pid's previous process has exited.
    retain(user -> user.pid() != pid || user.equals(process));
  }

  /**
   * Examines the executable of a process that has just started; events report its libraries later.
   * Results are cached, because most processes execute the same few files.
   */
  public synchronized void lookAtProgram(int pid) {
    if (!functions.watchesPrograms()) {
      return;
    }
    ProgramFile program = processes.programFile(pid);
    if (program == null || withoutLibraries.contains(program)) {
      return;
    }
    look(pid);
    // If the process has exited meanwhile, it was not examined.
    boolean looked = processes.find(pid) != null && program.equals(processes.programFile(pid));
    if (looked && !isWatchedFor(pid)) {
      if (withoutLibraries.size() >= MAX_WITHOUT_LIBRARIES) {
        withoutLibraries.clear();
      }
      withoutLibraries.add(program);
    }
  }

  /** Returns whether anything is observed for a process. */
  synchronized boolean isWatchedFor(int pid) {
    return libraries.values().stream()
        .filter(WatchedLibrary::isWatched)
        .anyMatch(library -> library.users().stream().anyMatch(user -> user.pid() == pid));
  }

  /** Returns whether an observed library is mapped by this process and no other known one. */
  synchronized boolean isWatchedOnlyFor(int pid) {
    return libraries.values().stream()
        .filter(WatchedLibrary::isWatched)
        .map(WatchedLibrary::users)
        .anyMatch(users -> !users.isEmpty() && users.stream().allMatch(user -> user.pid() == pid));
  }

  /** Returns whether a process maps any examined library. */
  synchronized boolean remembers(int pid) {
    return libraries.values().stream()
        .anyMatch(library -> library.users().stream().anyMatch(user -> user.pid() == pid));
  }

  /** Stops observing a process that exited. */
  public synchronized void forget(int pid) {
    retain(user -> user.pid() != pid);
  }

  /** Removes processes that exited without an event, even if their pid has been reused. */
  public synchronized void sweep() {
    retain(user -> user.equals(processes.find(user.pid())));
  }

  /**
   * Returns the libraries that are observed, and those that cannot be. Executables without a known
   * function are left out.
   */
  public synchronized List<Library> libraries() {
    return libraries.values().stream()
        .filter(watched -> !watched.outcome().endsWith(NOTHING) || !functions.watchesPrograms())
        .map(watched -> new Library(watched.outcome(), watched.users().size()))
        .toList();
  }

  /** Returns the number of libraries that could not be observed. */
  public synchronized long failures() {
    return failures;
  }

  /** Detaches the probes of a class until {@link #resume}; mapped libraries are still tracked. */
  public synchronized void pause(EventClass events) {
    paused.add(events);
    libraries.values().forEach(library -> library.pause(events));
  }

  /** Attaches the probes of a class again, also to libraries that were found in the meantime. */
  public synchronized void resume(EventClass events) {
    paused.remove(events);
    for (WatchedLibrary library : libraries.values()) {
      if (!library.resume(attacher, paused)) {
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

  /** Observes a library. A failure is cached, so that it is not retried for each process. */
  private WatchedLibrary watch(Mapped library) {
    try {
      List<Site> sites = functions.sitesIn(library.name(), ElfSymbols.of(library.path()));
      if (sites.isEmpty()) {
        return WatchedLibrary.without(library.name(), NOTHING);
      }
      WatchedLibrary watched = WatchedLibrary.of(library, sites);
      if (!watched.resume(attacher, paused)) {
        failures++;
      }
      return watched;
    } catch (IOException | SystemCallException refused) {
      failures++;
      return WatchedLibrary.without(library.name(), String.valueOf(refused.getMessage()));
    }
  }
}
