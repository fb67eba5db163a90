package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.probe.ProcessFiles.Identity;
import io.inferspan.ebpf.probe.ProcessFiles.Mapped;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A library that was looked into: what is watched in it, whether the probes are on, and for whom.
 *
 * <p>It holds the file open, for whoever led us to it may have ended when the probes are put back.
 */
final class WatchedLibrary implements AutoCloseable {

  private final String name;
  private final List<Site> sites;
  private final Set<Identity> users = new HashSet<>();
  private @Nullable FileDescriptor file;
  private @Nullable BpfLink link;
  private String outcome;

  private WatchedLibrary(
      String name, List<Site> sites, @Nullable FileDescriptor file, String outcome) {
    this.name = name;
    this.sites = sites;
    this.file = file;
    this.outcome = outcome;
  }

  /** One that has nothing to watch, or cannot be watched. */
  static WatchedLibrary without(String name, String why) {
    return new WatchedLibrary(name, List.of(), null, why);
  }

  /** One that is watched at these places once it is roused. */
  static WatchedLibrary of(Mapped library, List<Site> sites) {
    FileDescriptor file = FileDescriptor.ofFile(library.path());
    return new WatchedLibrary(library.name(), sites, file, sites.size() + " functions");
  }

  /** Puts the probes on; false where that is refused, and then it is not tried again. */
  boolean rouse(Attacher attacher) {
    FileDescriptor open = file;
    if (open == null || link != null) {
      return true;
    }
    try {
      link = attacher.attach(open.path(), sites);
      return true;
    } catch (BpfException refused) {
      outcome = String.valueOf(refused.getMessage());
      close();
      return false;
    }
  }

  /** Takes the probes off. */
  void rest() {
    BpfLink attached = link;
    link = null;
    if (attached != null) {
      attached.close();
    }
  }

  /** Whether its functions are watched, or will be when the probes are put back. */
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
    rest();
    FileDescriptor open = file;
    file = null;
    if (open != null) {
      open.close();
    }
  }
}
