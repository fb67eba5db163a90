package io.inferspan.ebpf.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files of a simulated machine, which supports and permits everything at first. */
public final class FakeSystem {

  private final Path root;

  public FakeSystem(Path root) {
    this.root = root;
    kernel("6.18.44-cloud");
    capabilities("000001ffffffffff");
    file("proc/self/mounts", "proc /proc proc rw 0 0\nbpf /sys/fs/bpf bpf rw 0 0\n");
    file("sys/kernel/btf/vmlinux", "types");
    file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  }

  public SystemView view() {
    return new SystemView(root);
  }

  public FakeSystem kernel(String release) {
    return file("proc/sys/kernel/osrelease", release + "\n");
  }

  public FakeSystem capabilities(String effective) {
    return status(effective, 0);
  }

  public FakeSystem seccompFilter() {
    return status("000001ffffffffff", 2);
  }

  public FakeSystem without(String file) {
    try {
      Files.delete(root.resolve(file));
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public FakeSystem file(String file, String text) {
    try {
      Path path = root.resolve(file);
      Files.createDirectories(path.resolveSibling("."));
      Files.writeString(path, text);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private FakeSystem status(String effective, int seccomp) {
    return file(
        "proc/self/status",
        "Name:\tjava\nCapPrm:\t0000000000000000\nCapEff:\t%s\nSeccomp:\t%d\nSeccomp_filters:\t1\n"
            .formatted(effective, seccomp));
  }
}
