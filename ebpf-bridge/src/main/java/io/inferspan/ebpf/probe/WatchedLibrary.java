package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.probe.ProcessFiles.Identity;
import io.inferspan.ebpf.probe.ProcessFiles.Mapped;
import io.inferspan.ebpf.wire.EventClass;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An examined library: its observed functions, the processes that map it, and the links of its
 * attached probes.
 *
 * <p>It keeps the file open, because the process that mapped it may have exited when probes are
 * attached again.
 */
final class WatchedLibrary implements AutoCloseable {

  private final String name;
  private final List<Site> sites;
  private final Set<Identity> users = new HashSet<>();
  private @Nullable FileDescriptor file;
  private final Map<EventClass, BpfLink> links = new EnumMap<>(EventClass.class);
  private String outcome;

  private WatchedLibrary(
      String name, List<Site> sites, @Nullable FileDescriptor file, String outcome) {
    this.name = name;
    this.sites = sites;
    this.file = file;
    this.outcome = outcome;
  }

  /** Creates a library without functions to observe, or one that cannot be observed. */
  static WatchedLibrary without(String name, String why) {
    return new WatchedLibrary(name, List.of(), null, why);
  }

  /** Creates a library whose functions at these offsets are observed after {@link #resume}. */
  static WatchedLibrary of(Mapped library, List<Site> sites) {
    FileDescriptor file = FileDescriptor.ofFile(library.path());
    return new WatchedLibrary(library.name(), sites, file, sites.size() + " functions");
  }

  /**
   * Attaches the probes, except those of {@code paused} classes; returns false if the kernel
   * refuses. A refusal is not retried.
   */
  boolean resume(Attacher attacher, Set<EventClass> paused) {
    FileDescriptor open = file;
    if (open == null) {
      return true;
    }
    Map<EventClass, List<Site>> classes =
        sites.stream().collect(Collectors.groupingBy(attacher::classOf));
    classes.keySet().removeAll(paused);
    classes.keySet().removeAll(links.keySet());
    try {
      classes.forEach((events, places) -> links.put(events, attacher.attach(open.path(), places)));
      return true;
    } catch (BpfException refused) {
      outcome = String.valueOf(refused.getMessage());
      close();
      return false;
    }
  }

  /** Detaches the probes of a class. */
  void pause(EventClass events) {
    BpfLink attached = links.remove(events);
    if (attached != null) {
      attached.close();
    }
  }

  /** Returns whether its functions are observed, or will be when the probes are attached again. */
  boolean isWatched() {
    return file != null;
  }

  String outcome() {
    return name + ": " + outcome;
  }

  Set<Identity> users() {
    return users;
  }

  @Override
  public void close() {
    links.values().forEach(BpfLink::close);
    links.clear();
    FileDescriptor open = file;
    file = null;
    if (open != null) {
      open.close();
    }
  }
}
