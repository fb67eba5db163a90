package io.inferspan.ebpf.libbpf;

import java.util.List;
import java.util.regex.Pattern;

/**
 * The kernel verifier's log about a program that it refused.
 *
 * <p>The log can have thousands of lines, most of which show the paths that the verifier followed.
 * The verdict, which says why the program was refused, is near the end.
 */
final class VerifierLog {

  private static final int MAX_LINE_CHARS = 240;

  /** The advice that the author of a program gets for verdicts that match a pattern. */
  private record Rule(Pattern verdict, String advice) {}

  private static final List<Rule> RULES =
      List.of(
          rule(
              "R\\d+ invalid mem access '\\w+_or_null_?'",
              "compare the result of the lookup with NULL before using it"),
          rule(
              "R\\d+ invalid mem access '(scalar|inv)'",
              "read through bpf_probe_read, or hold a pointer in that register on every path"),
          rule(
              "invalid access to (map value|memory|packet|stack)"
                  + "|R\\d+ (min|max|unbounded|offset|is outside|invalid zero|pointer arithmetic)"
                  + "|math between \\w+ pointer and .* unbounded",
              "check index and length against the size before the access"),
          rule(
              "unknown func|cannot use helper|cannot call GPL|cannot call (exported|kernel) function"
                  + "|helper call is not allowed|calling kernel function .* is not allowed",
              "call only helpers that this type of program may call"),
          rule(
              "invalid (write to|read from|variable-offset .*|indirect .*) stack"
                  + "|combined stack size|stack (size|depth|limit)|invalid stack type",
              "use at most 512 bytes of stack, and a per-CPU map for larger data"),
          rule(
              "infinite loop detected|back-edge|BPF program is too large|program is too complex"
                  + "|sequence of \\d+ jumps is too complex|loop .* not bounded",
              "give the loop a bound that the verifier can see, or use bpf_loop"),
          rule(
              "invalid bpf_context access|dereference of modified ctx"
                  + "|cannot (write|store) into .*ctx|only read is supported",
              "only read the context, and only at the offsets of its fields"),
          rule("div(ision)? by zero", "divide by something that is not always zero"),
          rule("type=\\w+ expected=", "pass what the helper expects, such as a copy on the stack"),
          rule("cannot pass map_type", "use the map only with the helpers for its type"),
          rule(
              "Unreleased reference|reference leak",
              "submit or release the reference on every path"),
          rule("R\\d+ !read_ok|invalid indirect read", "set every byte before it is read"));

  private final List<String> lines;
  private final int verdictAt;

  private VerifierLog(List<String> lines, int verdictAt) {
    this.lines = lines;
    this.verdictAt = verdictAt;
  }

  static VerifierLog of(String text) {
    List<String> lines = text.lines().filter(line -> !line.isBlank()).toList();
    return new VerifierLog(lines, verdictAt(lines));
  }

  /** Returns whether the log has no verdict, as when a security policy refused the program. */
  boolean isEmpty() {
    return verdictAt < 0;
  }

  String verdict() {
    return cut(lines.get(verdictAt).replaceFirst("\\.$", ""));
  }

  /**
   * Returns the last source line before the verdict, as the kernel prints it; empty if there is
   * none. Recent kernels print {@code code @ file:line}, older ones only the code.
   */
  String source() {
    for (int at = verdictAt; at >= 0; at--) {
      String line = lines.get(at);
      if (line.startsWith("; ")) {
        return cut(line.substring(2).strip());
      }
    }
    return "";
  }

  String advice() {
    return RULES.stream()
        .filter(rule -> rule.verdict.matcher(verdict()).find())
        .map(Rule::advice)
        .findFirst()
        .orElse("read the full log, which shows the path that the verifier followed");
  }

  /**
   * Returns the index of the verdict's first line; -1 if there is no verdict. A verdict can have
   * two lines: the first describes the access, such as {@code invalid access to map value}, and the
   * second the register, such as {@code R0 max value is outside of the allowed memory range}.
   */
  private static int verdictAt(List<String> lines) {
    int at = lines.size() - 1;
    while (at >= 0 && !isVerdict(lines.get(at))) {
      at--;
    }
    while (at > 0 && isVerdict(lines.get(at - 1))) {
      at--;
    }
    return at >= 0 ? at : lastOfUnknownKind(lines);
  }

  private static int lastOfUnknownKind(List<String> lines) {
    int at = lines.size() - 1;
    while (at >= 0 && isStatistics(lines.get(at))) {
      at--;
    }
    return at;
  }

  private static boolean isVerdict(String line) {
    return !line.startsWith(";") && RULES.stream().anyMatch(r -> r.verdict.matcher(line).find());
  }

  private static boolean isStatistics(String line) {
    return line.startsWith("processed ")
        || line.startsWith("verification time")
        || line.startsWith("stack depth ");
  }

  private static String cut(String line) {
    return line.length() <= MAX_LINE_CHARS ? line : line.substring(0, MAX_LINE_CHARS) + "…";
  }

  private static Rule rule(String verdict, String advice) {
    return new Rule(Pattern.compile(verdict), advice);
  }
}
