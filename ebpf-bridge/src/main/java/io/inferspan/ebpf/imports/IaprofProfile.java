package io.inferspan.ebpf.imports;

import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.ebpf.flame.Unit;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads profiles of iaprof, Intel's GPU profiler. A line consists of fields; the first one is the
 * kind of line.
 *
 * <p>The current format has one line per kernel, and one per instruction with a count for each
 * stall reason. The older format prints a field only when it changes, and one line per count. The
 * format in iaprof's documentation separates fields with {@code ;} and has separate lines for
 * stacks.
 */
final class IaprofProfile {

  private static final List<String> REASONS =
      List.of("active control pipestall send dist_acc sbid sync inst_fetch other tdr".split(" "));
  private static final Set<String> IGNORED =
      Set.of("interval", "interval_start", "interval_end", "metric", "frame", "shader_type");
  private static final Set<String> STATE =
      Set.of("proc_name", "pid", "ustack", "kstack", "gpu_file", "gpu_symbol", "insn_text");

  /** In folded stacks, iaprof's script writes the number of a stall reason instead of its name. */
  private static final Pattern NUMBERED_REASON =
      Pattern.compile("(.*;-;.*_\\[G\\];.*_\\[G\\];.*_\\[g\\];)([0-9])(_\\[g\\];.*_\\[g\\])");

  private final StackCounts counts = new StackCounts(Unit.SAMPLES);
  private final Map<String, String> strings = new HashMap<>();

  /** The last value of each field, for the older format. */
  private final Map<String, String> state = new HashMap<>();

  /** The value of each id, by kind, for the documented format. */
  private final Map<String, Map<String, String>> documented = new HashMap<>();

  private String kernel = "";
  private Line line = new Line(0, List.of());

  private IaprofProfile() {}

  static boolean isFirstWord(String word, String firstLine) {
    boolean separated = firstLine.length() > word.length();
    boolean tabs = separated && firstLine.charAt(word.length()) == '\t';
    boolean known = word.equals("string") || IGNORED.contains(word) || STATE.contains(word);
    return known && (tabs || (separated && firstLine.startsWith("STRING;")));
  }

  static StackCounts read(BufferedReader text) throws IOException {
    IaprofProfile profile = new IaprofProfile();
    int number = 0;
    for (String next = text.readLine(); next != null; next = text.readLine()) {
      number++;
      if (!next.isBlank()) {
        profile.line = Line.of(number, next);
        profile.handleLine();
      }
    }
    return profile.counts;
  }

  /** Replaces the numbers of stall reasons in folded stacks by names. */
  static StackCounts withNamedReasons(StackCounts folded) {
    StackCounts named = new StackCounts(folded.unit());
    folded
        .sorted()
        .forEach(
            (stack, count) -> {
              Matcher numbered = NUMBERED_REASON.matcher(stack);
              named.add(
                  numbered.matches()
                      ? numbered.group(1)
                          + REASONS.get(Integer.parseInt(numbered.group(2)))
                          + numbered.group(3)
                      : stack,
                  count);
            });
    return named;
  }

  private void handleLine() throws StackFormatException {
    String kind = line.text(0);
    switch (kind) {
      case "string", "STRING" -> strings.put(line.text(1), line.rest(2));
      case "kernel" -> kernel = kernel();
      case "eustall" -> reasons();
      case "e" -> olderStall();
      case "EUSTALL" -> documentedStall();
      case "PROC_NAME", "USTACK", "KSTACK", "GPU_FILE", "GPU_SYMBOL", "INSN_TEXT" ->
          documented.computeIfAbsent(kind, k -> new HashMap<>()).put(line.text(1), line.rest(2));
      default -> {
        if (STATE.contains(kind)) {
          state.put(kind, kind.equals("pid") ? line.text(1) : string(1));
        } else if (!IGNORED.contains(kind)) {
          throw line.expected(0, "a kind of line that iaprof writes, not '" + kind + "'");
        }
      }
    }
  }

  private String kernel() throws StackFormatException {
    line.require(7);
    return "%s;%d;%s;-;%s_[G];%s_[G]"
        .formatted(string(2), line.number(3), string(4), string(5), string(6));
  }

  private void reasons() throws StackFormatException {
    line.require(3 + REASONS.size());
    if (kernel.isEmpty()) {
      throw line.expected(0, "a line 'kernel' before this one");
    }
    for (int i = 0; i < REASONS.size(); i++) {
      long count = line.number(3 + i);
      if (count > 0) {
        add(kernel, string(2), REASONS.get(i), line.text(1), count);
      }
    }
  }

  /**
   * Adds the count of a line of the older format. The line's stack field is an id of the whole
   * stack, so it is not used.
   */
  private void olderStall() throws StackFormatException {
    line.require(5);
    for (String field : STATE) {
      if (!state.containsKey(field) && !field.endsWith("stack")) {
        throw line.expected(0, "a line '" + field + "' before this one");
      }
    }
    String stacks = state.getOrDefault("ustack", "") + state.getOrDefault("kstack", "");
    String stack =
        state.get("proc_name")
            + ";"
            + state.get("pid")
            + ";"
            + stacks
            + "-;"
            + gpu("gpu_file", "gpu_symbol");
    add(
        stack,
        String.valueOf(state.get("insn_text")),
        string(2),
        "0x" + line.text(3),
        line.number(4));
  }

  private String gpu(String file, String symbol) {
    return state.get(file) + "_[G];" + state.get(symbol) + "_[G]";
  }

  private void documentedStall() throws StackFormatException {
    line.require(11);
    List<String> stack = new ArrayList<>(List.of(string(1), line.text(2)));
    stack.addAll(List.of(known("USTACK", 3).split(";")));
    stack.addAll(List.of(known("KSTACK", 4).split(";")));
    stack.add("-");
    stack.add(known("GPU_FILE", 5) + "_[G]");
    stack.add(known("GPU_SYMBOL", 6) + "_[G]");
    stack.removeIf(String::isEmpty);
    String reason = strings.getOrDefault(line.text(8), "");
    // The documentation's example has numbers of stall reasons, from 1 on, without a list of names.
    int number = REASONS.contains(reason) ? 0 : (int) line.number(8);
    boolean numbered = number >= 1 && number <= REASONS.size();
    add(
        String.join(";", stack),
        known("INSN_TEXT", 7),
        numbered ? REASONS.get(number - 1) : reason,
        line.text(9),
        line.number(10));
  }

  private void add(String stack, String instruction, String reason, String offset, long count) {
    counts.add(
        "%s;%s_[g];%s_[g];%s_[g]".formatted(stack, instruction.replace(';', ','), reason, offset),
        count);
  }

  private String string(int field) throws StackFormatException {
    String id = line.text(field);
    String text = strings.get(id);
    // The id of an empty stack is 0.
    if (text == null && !id.equals("0")) {
      throw line.expected(field, "the id of a string, not '" + id + "'");
    }
    return text == null ? "" : text;
  }

  private String known(String kind, int field) throws StackFormatException {
    String id = line.text(field);
    String text = documented.getOrDefault(kind, Map.of()).get(id);
    if (text == null && !id.equals("0")) {
      throw line.expected(field, "the id of a line '" + kind + "', not '" + id + "'");
    }
    return text == null ? "" : text;
  }

  /** A line and its fields, which are numbered from 0. */
  private record Line(int number, List<String> fields) {

    static Line of(int number, String text) {
      return new Line(number, List.of(text.split(text.indexOf('\t') >= 0 ? "\t" : ";", -1)));
    }

    void require(int count) throws StackFormatException {
      if (fields.size() < count) {
        throw expected(fields.size(), count + " fields, not " + fields.size());
      }
    }

    String text(int field) throws StackFormatException {
      require(field + 1);
      return fields.get(field);
    }

    /** Returns the last field, which may contain separators in the documented format. */
    String rest(int field) throws StackFormatException {
      require(field + 1);
      return String.join(";", fields.subList(field, fields.size()));
    }

    long number(int field) throws StackFormatException {
      String text = text(field);
      if (!text.matches("[0-9]{1,18}")) {
        throw expected(field, "a number, not '" + text + "'");
      }
      return Long.parseLong(text);
    }

    StackFormatException expected(int field, String what) {
      long column = 1;
      for (int i = 0; i < Math.min(field, fields.size()); i++) {
        column += fields.get(i).length() + 1;
      }
      // The error position of a missing field is after the last field, not after a separator.
      return new StackFormatException(number, field < fields.size() ? column : column - 1, what);
    }
  }
}
