package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.Prerequisite;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Formats the result of {@code doctor} as a table of at most 100 columns. Instead of repeating a
 * remedy, it refers to the first prerequisite with the same remedy.
 */
final class DoctorText {

  private static final int NAME = 18;
  private static final int STATE = 10;
  private static final int INDENT = 2 + NAME + STATE;
  private static final int WIDTH = 100;
  private static final String ARROW = "-> ";

  private final StringBuilder text = new StringBuilder();

  /** Printed remedies, each with the first prerequisite that has it. */
  private final Map<String, String> printed = new HashMap<>();

  private final Style style;

  private DoctorText(Style style) {
    this.style = style;
  }

  static String of(EbpfSupport support, Style style) {
    DoctorText doctor = new DoctorText(style);
    support.prerequisites().forEach(doctor::row);
    doctor.text.append('\n');
    Prose.lines(verdict(support), WIDTH).forEach(line -> doctor.line(0, line));
    return doctor.text.toString();
  }

  private void row(Prerequisite one) {
    List<String> found = Prose.lines(one.found(), WIDTH - INDENT);
    text.append("  ").append(padded(one.name(), NAME));
    text.append(style.paint(one.state(), padded(word(one.state()), STATE)));
    text.append(found.get(0)).append('\n');
    found.stream().skip(1).forEach(line -> line(INDENT, line));
    if (!one.remedy().isEmpty()) {
      remedy(one);
    }
  }

  private void remedy(Prerequisite one) {
    String earlier = printed.putIfAbsent(one.remedy(), one.name());
    String sentence = earlier == null ? one.remedy() : "as for " + earlier;
    List<String> lines = Prose.lines(sentence, WIDTH - INDENT - ARROW.length());
    line(INDENT, ARROW + lines.get(0));
    lines.stream().skip(1).forEach(line -> line(INDENT + ARROW.length(), line));
  }

  private static String padded(String word, int width) {
    return word + " ".repeat(Math.max(1, width - word.length()));
  }

  private void line(int indent, String line) {
    text.append(" ".repeat(indent)).append(line).append('\n');
  }

  private static String word(Prerequisite.State state) {
    return switch (state) {
      case AVAILABLE -> "yes";
      case LIMITED -> "limited";
      case MISSING -> "NO";
    };
  }

  private static String verdict(EbpfSupport support) {
    return switch (support) {
      case EbpfSupport.Unavailable none ->
          "The bridge cannot observe kernel events on this machine. First: " + none.remedy() + ".";
      case EbpfSupport.Available all -> available(all.prerequisites());
    };
  }

  private static String available(List<Prerequisite> prerequisites) {
    long limited =
        prerequisites.stream().filter(one -> one.state() == Prerequisite.State.LIMITED).count();
    return limited == 0
        ? "The bridge can observe kernel events on this machine."
        : "The bridge can observe kernel events on this machine, with the limitations above.";
  }
}
