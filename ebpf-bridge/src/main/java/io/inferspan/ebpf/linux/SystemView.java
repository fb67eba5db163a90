package io.inferspan.ebpf.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Reads the files of {@code /proc} and {@code /sys} that describe the kernel, the machine and this
 * process.
 *
 * <p>A file that cannot be read is treated as absent.
 */
public final class SystemView {

  private static final int MAX_LINES = 10_000;

  private final Path root;

  /** Creates a view of the files below a root directory; tests use their own. */
  public SystemView(Path root) {
    this.root = root;
  }

  /** Returns the view of this machine and this process. */
  public static SystemView live() {
    return new SystemView(Path.of("/"));
  }

  /** Returns the kernel's version. */
  public KernelVersion kernel() {
    return KernelVersion.of(text("proc/sys/kernel/osrelease"));
  }

  /** Returns whether this process has an effective capability. */
  public boolean has(Capability capability) {
    String effective = field("proc/self/status", "CapEff:");
    return effective.matches("[0-9a-f]{1,16}")
        && capability.in(Long.parseUnsignedLong(effective, 16));
  }

  /** Returns whether a seccomp filter may refuse system calls of this process. */
  public boolean filtersSystemCalls() {
    return field("proc/self/status", "Seccomp:").equals("2");
  }

  /** Returns whether the kernel has BTF, which libbpf needs to relocate programs. */
  public boolean describesItsTypes() {
    return Files.isReadable(root.resolve("sys/kernel/btf/vmlinux"));
  }

  /** Returns whether the BPF filesystem, in which maps are shared by path, is mounted. */
  public boolean hasBpfFilesystem() {
    return lines("proc/self/mounts").stream()
        .anyMatch(mount -> mount.contains(" /sys/fs/bpf bpf "));
  }

  /** Returns the mount point of the cgroup v2 hierarchy. */
  public static Path cgroupRoot() {
    return live().lines("proc/self/mounts").stream()
        .map(mount -> mount.split(" "))
        .filter(fields -> fields.length > 2 && fields[2].equals("cgroup2"))
        .map(fields -> Path.of(fields[1]))
        .findFirst()
        .orElse(Path.of("/sys/fs/cgroup"));
  }

  /** Returns the kernel's lockdown mode; empty if there is none. */
  public String lockdown() {
    String modes = text("sys/kernel/security/lockdown");
    int open = modes.indexOf('[');
    int close = modes.indexOf(']');
    String mode = open >= 0 && close > open ? modes.substring(open + 1, close) : "none";
    return mode.equals("none") ? "" : mode;
  }

  /** Returns Java's name of the CPU architecture. */
  public static String architecture() {
    return System.getProperty("os.arch").toLowerCase(Locale.ROOT);
  }

  private String field(String file, String name) {
    return lines(file).stream()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()).strip())
        .findFirst()
        .orElse("");
  }

  private String text(String file) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? "" : lines.get(0).strip();
  }

  private List<String> lines(String file) {
    try (Stream<String> lines = Files.lines(root.resolve(file), StandardCharsets.ISO_8859_1)) {
      return lines.limit(MAX_LINES).toList();
    } catch (IOException | java.io.UncheckedIOException absent) {
      return List.of();
    }
  }
}
