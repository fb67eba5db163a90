package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.probe.ProcessFiles.FileId;
import io.inferspan.ebpf.probe.ProcessFiles.Identity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Attaches programs to the USDT probes of a library, in each of its files that a process maps. */
public final class TracingPoints implements AutoCloseable {

  private static final int MAX_LIBRARIES = 16;

  private final String library;
  private final String provider;
  private final Map<String, BpfProgram> programs;
  private final ProcessFiles processes = new ProcessFiles(Path.of("/proc"));
  private final Set<FileId> seen = new HashSet<>();
  private final Set<String> attached = new HashSet<>();
  private final List<BpfLink> links = new ArrayList<>();
  private @Nullable BpfException refusal;

  /**
   * Creates the probes without attaching any.
   *
   * @param library the prefix of the library's file name
   * @param programs the program for each probe, by the probe's name
   */
  public TracingPoints(String library, String provider, Map<String, BpfProgram> programs) {
    this.library = library;
    this.provider = provider;
    this.programs = Map.copyOf(programs);
  }

  /** Attaches to the library's files that a process maps, if they are new. */
  public void look(int pid) {
    Identity process = processes.find(pid);
    if (process == null || seen.size() >= MAX_LIBRARIES) {
      return;
    }
    processes
        .libraries(process, name -> name.startsWith(library))
        .forEach(
            (file, mapped) -> {
              if (seen.add(file)) {
                programs.forEach((point, program) -> attach(mapped.path(), point, program));
              }
            });
  }

  private void attach(Path file, String point, BpfProgram program) {
    try {
      links.add(program.attachUsdt(file, provider, point, 0));
      attached.add(point);
    } catch (BpfException refused) {
      refusal = refused;
    }
  }

  /** Returns whether a probe is attached. */
  public boolean isAttached(String point) {
    return attached.contains(point);
  }

  /**
   * Returns why a probe could not be attached, for example because a file lacks it; null if all
   * were.
   */
  public @Nullable BpfException refusal() {
    return refusal;
  }

  @Override
  public void close() {
    links.forEach(BpfLink::close);
    links.clear();
  }
}
