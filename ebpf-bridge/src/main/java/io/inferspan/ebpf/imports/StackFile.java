package io.inferspan.ebpf.imports;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** A file of stacks in one of the formats that are known. */
public final class StackFile {

  private static final int LOOK_AHEAD = 8192;

  private StackFile() {}

  /**
   * Reads stacks: folded text, what iaprof writes in either of its forms or as its documentation
   * shows it, or a trace of the PyTorch profiler.
   */
  public static StackCounts read(Path file) throws IOException {
    // Names come from anywhere: a byte that is no UTF-8 is no reason to refuse the rest.
    try (BufferedReader text =
        new BufferedReader(new InputStreamReader(Files.newInputStream(file), UTF_8))) {
      String first = firstLine(text);
      if (first.startsWith("{") || first.startsWith("[")) {
        return TorchTrace.read(text);
      }
      String word = first.split("[\t;]", 2)[0].toLowerCase(Locale.ROOT);
      if (IaprofProfile.isFirstWord(word, first)) {
        return IaprofProfile.read(text);
      }
      return IaprofProfile.withNamedReasons(FoldedText.read(text, Unit.SAMPLES));
    }
  }

  /** The first line that says something, of which the reader does not lose a character. */
  private static String firstLine(BufferedReader text) throws IOException {
    text.mark(LOOK_AHEAD);
    char[] head = new char[LOOK_AHEAD];
    int length = 0;
    for (int read = 0; read >= 0 && length < LOOK_AHEAD; ) {
      length += read;
      read = text.read(head, length, LOOK_AHEAD - length);
    }
    text.reset();
    return new String(head, 0, length)
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .findFirst()
        .orElse("");
  }
}
