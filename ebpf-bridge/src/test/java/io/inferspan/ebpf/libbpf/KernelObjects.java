package io.inferspan.ebpf.libbpf;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The BPF objects that a process holds, by the kernel's numbers, and which of those still are.
 *
 * <p>By number, since other processes of the machine load and unload programs at the same time.
 */
public record KernelObjects(Set<Integer> programs, Set<Integer> maps, Set<Integer> links) {

  private static final Pattern NUMBER = Pattern.compile("(prog_id|map_id|link_id):\\s*(\\d+)");
  private static final Pattern LISTED = Pattern.compile("\"id\":(\\d+)");

  /** Returns the objects that a process holds now. */
  public static KernelObjects of(long pid) throws IOException {
    KernelObjects held = new KernelObjects(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    List<Path> files;
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fdinfo"))) {
      files = open.toList();
    }
    for (Path file : files) {
      held.add(read(file));
    }
    return held;
  }

  /** Those that the kernel still has, as bpftool lists them. */
  public List<String> alive() {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/sbin/bpftool")), "needs bpftool: apt-get install bpftool");
    List<String> alive = new ArrayList<>();
    alive("prog", programs, alive);
    alive("map", maps, alive);
    alive("link", links, alive);
    return alive;
  }

  private void add(String info) {
    Matcher number = NUMBER.matcher(info);
    while (number.find()) {
      Set<Integer> kind =
          switch (number.group(1)) {
            case "prog_id" -> programs;
            case "map_id" -> maps;
            default -> links;
          };
      kind.add(Integer.valueOf(number.group(2)));
    }
  }

  private static void alive(String kind, Set<Integer> numbers, List<String> alive) {
    Matcher listed = LISTED.matcher(ChildProcess.run(List.of("bpftool", "-j", kind, "show")));
    while (listed.find()) {
      if (numbers.contains(Integer.valueOf(listed.group(1)))) {
        alive.add(kind + " " + listed.group(1));
      }
    }
  }

  /** A descriptor may be closed while we look. */
  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException gone) {
      return "";
    }
  }
}
