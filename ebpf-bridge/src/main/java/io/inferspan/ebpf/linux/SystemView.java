package io.inferspan.ebpf.linux;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The files in which the kernel describes itself, the machine and this process.
 *
 * <p>What cannot be read counts as absent: whoever asks has a sentence for that.
 */
public final class SystemView {

  /** No limit. */
  public static final long UNLIMITED = Long.MAX_VALUE;

  private static final int MAX_LINES = 10_000;

  private final Path root;

  /** The files below a root directory, which in tests is not the machine's. */
  public SystemView(Path root) {
    this.root = root;
  }

  /** This machine and this process. */
  public static SystemView live() {
    return new SystemView(Path.of("/"));
  }

  /** The kernel's version. */
  public KernelVersion kernel() {
    return KernelVersion.of(text("proc/sys/kernel/osrelease"));
  }

  /** Whether this process holds a privilege now. */
  public boolean has(Capability capability) {
    String effective = field("proc/self/status", "CapEff:");
    return effective.matches("[0-9a-f]{1,16}")
        && capability.in(Long.parseUnsignedLong(effective, 16));
  }

  /** Whether a filter may refuse system calls of this process. */
  public boolean filtersSystemCalls() {
    return field("proc/self/status", "Seccomp:").equals("2");
  }

  /** Whether the kernel describes its own types, without which programs do not fit to it. */
  public boolean describesItsTypes() {
    return Files.isReadable(root.resolve("sys/kernel/btf/vmlinux"));
  }

  /** Whether classic tracepoints can be looked up. */
  public boolean hasTracefs() {
    return Stream.of("sys/kernel/tracing/events", "sys/kernel/debug/tracing/events")
        .anyMatch(directory -> Files.isReadable(root.resolve(directory)));
  }

  /** Whether maps can be shared with other programs by name. */
  public boolean hasBpfFilesystem() {
    return lines("proc/self/mounts").stream()
        .anyMatch(mount -> mount.contains(" /sys/fs/bpf bpf "));
  }

  /** Where the cgroup v2 hierarchy is mounted. */
  public static Path cgroupRoot() {
    return live().lines("proc/self/mounts").stream()
        .map(mount -> mount.split(" "))
        .filter(fields -> fields.length > 2 && fields[2].equals("cgroup2"))
        .map(fields -> Path.of(fields[1]))
        .findFirst()
        .orElse(Path.of("/sys/fs/cgroup"));
  }

  /** How the kernel is locked down; empty where it is not. */
  public String lockdown() {
    String modes = text("sys/kernel/security/lockdown");
    int open = modes.indexOf('[');
    int close = modes.indexOf(']');
    String mode = open >= 0 && close > open ? modes.substring(open + 1, close) : "none";
    return mode.equals("none") ? "" : mode;
  }

  /** How much memory this process may lock; on kernels before 5.11 BPF maps count as locked. */
  public long memoryLockBytes() {
    String limit = field("proc/self/limits", "Max locked memory");
    String soft = limit.split("\\s+", 2)[0];
    return soft.matches("\\d{1,18}") ? Long.parseLong(soft) : UNLIMITED;
  }

  /** The processor's architecture by Java's name. */
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
