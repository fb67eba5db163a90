package io.inferspan.ebpf.stacks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.stacks.StackTable.Stack;
import io.inferspan.ebpf.symbols.Symbols.Image;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Names the functions of Python 3.11, which the programs read from the interpreter's state. */
final class PythonFrames {

  private static final int FRAMES = 64;
  private static final long ENTRY = 1;
  private static final String INTERPRETER = "_PyEval_EvalFrameDefault";
  private static final String UNKNOWN = "py::?";

  /** The size of {@code struct ispan_python_function}. */
  private static final int FUNCTION_BYTES = 264;

  private static final int NAME_AT = 8;
  private static final int FILE_AT = 136;
  private static final int TEXT_AT = 8;
  private static final int TEXT_BYTES = 120;

  private final BpfObject programs;

  PythonFrames(BpfObject programs) {
    this.programs = programs;
  }

  /** Makes the programs read the state of a process's interpreter. */
  void read(Image image, long runtime) {
    try (Arena arena = Arena.ofConfined()) {
      programs
          .map("pythons")
          .put(
              arena.allocateFrom(JAVA_INT, image.pid()),
              arena.allocateFrom(JAVA_LONG, image.stack(), runtime));
    }
  }

  /**
   * Returns the frames of a stack, from the root on, with Python functions in place of the
   * interpreter's. If the interpreter's caller is unknown, the Python functions are still complete.
   */
  List<String> merge(Stack stack, List<String> user, boolean whole) {
    long[] codes = codes(stack.python());
    List<List<String>> runs = new ArrayList<>();
    for (int i = codes.length - 1; i >= 0; i--) {
      if (runs.isEmpty() || (codes[i] & ENTRY) != 0) {
        runs.add(new ArrayList<>());
      }
      runs.getLast().add(name(stack.image(), codes[i] & ~ENTRY));
    }
    List<String> merged = new ArrayList<>();
    long interpreters = user.stream().filter(PythonFrames::isInterpreter).count();
    if (whole && interpreters == runs.size()) {
      int next = 0;
      for (String frame : user) {
        merged.addAll(isInterpreter(frame) ? runs.get(next++) : List.of(frame));
      }
      return merged;
    }
    if (codes.length == FRAMES) {
      merged.add(StackNames.TRUNCATED);
    }
    runs.forEach(merged::addAll);
    int inner = user.size();
    while (inner > 0 && !isInterpreter(user.get(inner - 1))) {
      inner--;
    }
    if (inner == 0) {
      merged.add(StackNames.TRUNCATED);
    }
    merged.addAll(user.subList(inner, user.size()));
    return merged;
  }

  private static boolean isInterpreter(String frame) {
    return frame.startsWith(INTERPRETER);
  }

  private long[] codes(long number) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment codes = arena.allocate(JAVA_LONG, FRAMES);
      boolean known =
          programs.map("python_stacks").get(arena.allocateFrom(JAVA_LONG, number), codes);
      int count = 0;
      while (known && count < FRAMES && codes.getAtIndex(JAVA_LONG, count) != 0) {
        count++;
      }
      return codes.asSlice(0, (long) count * Long.BYTES).toArray(JAVA_LONG);
    }
  }

  /** Returns the name in the format that Python 3.12 and newer write to their perf map. */
  private String name(Image image, long code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment function = arena.allocate(FUNCTION_BYTES, Long.BYTES);
      MemorySegment key = arena.allocateFrom(JAVA_LONG, image.pid(), code);
      boolean known = programs.map("python_functions").get(key, function);
      return known ? "py::" + text(function, NAME_AT) + ":" + text(function, FILE_AT) : UNKNOWN;
    }
  }

  private static String text(MemorySegment function, int at) {
    int width = Math.max(1, function.get(JAVA_INT, at + 4L));
    long length = Integer.toUnsignedLong(function.get(JAVA_INT, at)) * width;
    long read = Math.min(length, TEXT_BYTES);
    Charset charset =
        switch (width) {
          case 2 -> StandardCharsets.UTF_16LE;
          case 4 -> StandardCharsets.UTF_32LE;
          default -> StandardCharsets.ISO_8859_1;
        };
    String text =
        new String(function.asSlice(at + (long) TEXT_AT, read).toArray(JAVA_BYTE), charset);
    return (read < length ? text + "…" : text).replace(';', ',');
  }
}
