package io.inferspan.ebpf.stacks;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.linux.Demangler;
import io.inferspan.ebpf.stacks.StackTable.Stack;
import io.inferspan.ebpf.symbols.Symbols;
import io.inferspan.ebpf.symbols.Symbols.Image;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Resolves stacks to the names of their frames. Not thread-safe. */
final class StackNames {

  private static final int NAME_BYTES = 1024;
  private static final long REASON_NAMES = 1L << 62;
  private static final String KERNEL = "_[k]";
  private static final String ON_GPU = "_[G]";
  private static final String GPU_DETAIL = "_[g]";
  static final String TRUNCATED = "[truncated]";
  private static final String ADDRESS = "0x";
  private static final String FUNCTION = "function " + ADDRESS;
  private static final String REASON = "reason ";

  /**
   * The kernel function that calls the BPF program. This function, and those that it calls, are
   * left out.
   */
  private static final String OWN_CALL = "bpf_trace_run";

  private final BpfObject programs;
  private final StackTable table;
  private final CudaCalls calls;
  private final boolean byTrace;
  private final PythonFrames python;
  private final Symbols symbols = Symbols.ofThisMachine();
  private final Map<Image, String> processes = new HashMap<>();
  private final Map<Stack, List<String>> named = new HashMap<>();

  StackNames(BpfObject programs, StackTable table, CudaCalls calls, boolean byTrace) {
    this.programs = programs;
    this.table = table;
    this.calls = calls;
    this.byTrace = byTrace;
    this.python = new PythonFrames(programs);
  }

  /** Remembers the mappings of a process that is already running. */
  void remember(int pid) {
    Image image = symbols.image(pid);
    if (image.stack() != 0) {
      remember(image);
    }
  }

  /** Remembers the mappings of a process. */
  void remember(Image image) {
    symbols.remember(image);
    long runtime = symbols.pythonRuntime(image);
    if (runtime != 0) {
      python.read(image, runtime);
    }
    processes.computeIfAbsent(image, StackNames::name);
  }

  /** Reads the perf maps again that runtimes have changed. */
  void refreshCompiled() {
    symbols.refreshCompiled();
  }

  /** Resolves a stack unless it was resolved before. */
  void name(Stack stack) {
    named.computeIfAbsent(stack, this::frames);
  }

  /** Returns the frames of a stack; resolves it again if a name was unknown before. */
  List<String> of(Stack stack) {
    List<String> before = named.get(stack);
    if (before != null && isNamed(before)) {
      return before;
    }
    List<String> now = frames(stack);
    named.put(stack, now);
    return now;
  }

  /** Returns a sentence for each process and each reason why names are missing. */
  List<String> missing() {
    return named.keySet().stream()
        .map(Stack::image)
        .distinct()
        .sorted(Comparator.comparingInt(Image::pid))
        .flatMap(image -> symbols.missing(image).stream())
        .distinct()
        .toList();
  }

  /** Returns whether each frame has a name or at least a module. */
  static boolean isNamed(List<String> frames) {
    return frames.stream()
        .noneMatch(
            frame ->
                frame.startsWith(FUNCTION)
                    || (frame.startsWith(REASON) && frame.endsWith(GPU_DETAIL))
                    || (frame.startsWith(ADDRESS) && !frame.endsWith(GPU_DETAIL)));
  }

  private List<String> frames(Stack stack) {
    List<String> user = new ArrayList<>();
    boolean sampled = stack.kind() < StackRecorder.Kind.CALL_NUMBER;
    long[] followed = table.addresses(stack.user());
    List<Long> addresses = CallChain.of(symbols, stack, followed, sampled);
    // All addresses except the innermost are return addresses, which may lie in the next function.
    // For a call that has ended, the innermost one is a return address, too.
    int exact = sampled ? 0 : -1;
    for (int i = addresses.size() - 1; i >= 0; i--) {
      long address = addresses.get(i);
      user.add(symbols.user(stack.image(), i == exact ? address : address - 1));
    }
    boolean whole =
        !user.isEmpty()
            && followed.length < StackTable.FRAMES
            && (StackRoots.isRoot(user) || symbols.isRoot(stack.image(), addresses.getLast() - 1));
    List<String> frames = new ArrayList<>();
    if (byTrace) {
      frames.add(
          stack.trace().equals(StackTable.NO_TRACE)
              ? StackCounts.NO_TRACE
              : StackCounts.traceFrame(stack.trace()));
    }
    frames.add(processes.computeIfAbsent(stack.image(), StackNames::name));
    if (stack.python() != 0) {
      frames.addAll(python.merge(stack, user, whole));
    } else {
      if (!whole && !user.isEmpty()) {
        frames.add(TRUNCATED);
      }
      frames.addAll(user);
    }
    if (sampled) {
      addKernel(stack, frames);
    } else {
      addCall(stack, frames);
    }
    return frames;
  }

  private void addKernel(Stack stack, List<String> frames) {
    long[] inKernel = table.addresses(stack.kernel());
    for (int i = inKernel.length - 1; i >= 0; i--) {
      String name = symbols.kernel(i == 0 ? inKernel[i] : inKernel[i] - 1);
      if (name.startsWith(OWN_CALL)) {
        break;
      }
      frames.add(name + KERNEL);
    }
  }

  private void addCall(Stack stack, List<String> frames) {
    CudaCalls.Row row = calls.row(stack.called());
    frames.add(row.function());
    if (stack.function() == 0) {
      return;
    }
    frames.add("-");
    boolean host = row.namesByAddress() && stack.kind() == StackRecorder.Kind.CALL_NUMBER;
    frames.add((host ? symbols.user(stack.image(), stack.function()) : function(stack)) + ON_GPU);
    if (stack.kind() == StackRecorder.Kind.STALL_NUMBER) {
      List<Long> sample = stack.kernel().first();
      String reason = text(stack.image().pid(), REASON_NAMES | sample.get(1));
      frames.add((reason == null ? REASON + sample.get(1) : reason) + GPU_DETAIL);
      frames.add(ADDRESS + Long.toHexString(sample.getFirst()) + GPU_DETAIL);
    }
  }

  private String function(Stack stack) {
    String text = text(stack.image().pid(), stack.function());
    if (text == null) {
      return FUNCTION + Long.toHexString(stack.function());
    }
    String plain = Demangler.demangle(text);
    String cut = text.length() == NAME_BYTES - 1 ? "…" : "";
    return (plain == null ? text : plain) + cut;
  }

  private @Nullable String text(int pid, long number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment function = arena.allocate(JAVA_LONG, 2);
      function.setAtIndex(JAVA_LONG, 0, number);
      function.setAtIndex(JAVA_LONG, 1, pid);
      MemorySegment name = arena.allocate(NAME_BYTES);
      String text = programs.map("function_names").get(function, name) ? name.getString(0) : "";
      return text.isEmpty() ? null : text;
    }
  }

  private static String name(Image image) {
    try {
      return Files.readString(Path.of("/proc", Integer.toString(image.pid()), "comm")).strip();
    } catch (IOException gone) {
      return "process " + image.pid();
    }
  }
}
