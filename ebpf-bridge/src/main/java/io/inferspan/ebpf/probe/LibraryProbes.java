package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
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
import org.jspecify.annotations.Nullable;

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
  private final Map<FileId, Watched> libraries = new HashMap<>();
  private final Set<ProgramFile> barren = new HashSet<>();
  private long failures;

  /** A library that was looked into; without a link if it has nothing to watch, or was refused. */
  private record Watched(@Nullable BpfLink link, String outcome, Set<Identity> users) {}

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
        .filter(library -> library.link() != null)
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
    for (Iterator<Watched> each = libraries.values().iterator(); each.hasNext(); ) {
      Watched library = each.next();
      library.users().removeIf(user -> !wanted.test(user));
      if (library.users().isEmpty()) {
        each.remove();
        close(library.link());
      }
    }
  }

  private static void close(@Nullable BpfLink link) {
    if (link != null) {
      link.close();
    }
  }

  /** A library that cannot be watched is remembered, and not tried for each of its processes. */
  private Watched watch(Mapped library) {
    try {
      List<Site> sites = functions.sitesIn(library.name(), ElfSymbols.of(library.path()));
      if (sites.isEmpty()) {
        return looked(library, null, NOTHING);
      }
      BpfLink link = attacher.attach(library.path(), sites);
      return looked(library, link, sites.size() + " functions");
    } catch (IOException | BpfException refused) {
      failures++;
      return looked(library, null, String.valueOf(refused.getMessage()));
    }
  }

  private static Watched looked(Mapped library, @Nullable BpfLink link, String outcome) {
    return new Watched(link, library.name() + ": " + outcome, new HashSet<>());
  }
}
