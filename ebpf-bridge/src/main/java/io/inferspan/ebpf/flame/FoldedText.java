package io.inferspan.ebpf.flame;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads and writes folded stacks: per line, frames separated by {@code ;}, a space and a count. */
public final class FoldedText {

  /** Some tools also write {@code ;} before the count. */
  private static final Pattern LINE = Pattern.compile("(.*[^\\s;])[ \\t;]+([0-9]{1,18})\\s*");

  private FoldedText() {}

  /** Reads stacks; a format error states its line and column. */
  public static StackCounts read(BufferedReader text, Unit unit) throws IOException {
    StackCounts counts = new StackCounts(unit);
    int number = 0;
    for (String line = text.readLine(); line != null; line = text.readLine()) {
      number++;
      Matcher stack = LINE.matcher(line);
      if (stack.matches()) {
        counts.add(stack.group(1), Long.parseLong(stack.group(2)));
      } else if (!line.isBlank() && !line.startsWith("#")) {
        throw new StackFormatException(number, line.length() + 1, "a count after the stack");
      }
    }
    return counts;
  }

  /** Writes stacks, sorted. */
  public static void write(StackCounts counts, Appendable text) throws IOException {
    for (var stack : counts.sorted().entrySet()) {
      text.append(stack.getKey()).append(' ').append(String.valueOf(stack.getValue())).append('\n');
    }
  }
}
