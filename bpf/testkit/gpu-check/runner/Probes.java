package io.inferspan.gpucheck;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.UprobeTarget;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** A program of {@code count.bpf.c} that is attached to functions of a library. */
final class Probes implements AutoCloseable {

  private static final int MOST = 4096;
  private static final String[][] INSTRUCTIONS = {
    {"f30f1efa", "endbr64"}, {"55", "push rbp"}, {"53", "push rbx"}, {"415", "push r8…r15"},
    {"50", "push rax"}, {"4883ec", "sub rsp"}, {"4881ec", "sub rsp"}, {"0f1f4400", "nop5"},
    {"90", "nop"}, {"e9", "jmp"}, {"ff25", "jmp (indirect)"}, {"488b05", "mov rip-relative"},
    {"488d05", "lea rip-relative"}, {"31", "xor"}, {"b8", "mov immediate"}, {"c3", "ret"},
  };

  private final BpfObject object;
  private final BpfLink link;
  private final List<String> names;

  private Probes(BpfObject object, BpfLink link, List<String> names) {
    this.object = object;
    this.link = link;
    this.names = names;
  }

  /** Attaches to these functions; names with the same address count as one function. */
  static Probes attach(
      Bundle bundle, String program, UprobeMode mode, Path library, Collection<String> functions)
      throws IOException {
    Map<Long, String> places = places(library, functions);
    List<UprobeTarget.Site> sites = new ArrayList<>();
    places.keySet().stream().limit(MOST).forEach(at -> sites.add(new UprobeTarget.Site(at, sites.size())));
    BpfObject object = BpfObject.open("count", Files.readAllBytes(bundle.file("count.bpf.o")));
    try {
      object.programs().forEach(each -> each.via(mode));
      object.load();
      BpfLink link =
          object
              .program(program)
              .attachUprobes(new UprobeTarget(library, sites, UprobeTarget.EVERY_PROCESS, false));
      return new Probes(object, link, List.copyOf(places.values()));
    } catch (RuntimeException refused) {
      object.close();
      throw refused;
    }
  }

  /** Returns functions by their offset in the file; of several names, the first. */
  static Map<Long, String> places(Path library, Collection<String> functions) throws IOException {
    ElfSymbols symbols = ElfSymbols.of(library);
    Map<Long, String> places = new TreeMap<>();
    for (String function : functions) {
      OptionalLong at = symbols.fileOffset(function);
      if (at.isPresent()) {
        places.putIfAbsent(at.getAsLong(), function);
      }
    }
    return places;
  }

  /** Returns the number of calls of each function. */
  Map<String, Long> calls() {
    Map<String, Long> calls = new TreeMap<>();
    for (int i = 0; i < Math.min(names.size(), MOST); i++) {
      long count = object.map("counts").percpuSum(i);
      if (count > 0) {
        calls.put(names.get(i), count);
      }
    }
    return calls;
  }

  /** Returns the kind of the instruction that a probe at this offset replaces. */
  static String firstInstruction(Path library, long at) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(library.toFile(), "r")) {
      byte[] code = new byte[4];
      file.seek(at);
      file.readFully(code);
      String hex = HexFormat.of().formatHex(code);
      for (String[] known : INSTRUCTIONS) {
        if (hex.startsWith(known[0])) {
          return known[1];
        }
      }
      return "other (" + hex + ")";
    }
  }

  @Override
  public void close() {
    link.close();
    object.close();
  }
}
