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

/** Reads files of stacks in any supported format. */
public final class StackFile {

  private static final int LOOK_AHEAD = 8192;

  private StackFile() {}

  /**
   * Reads folded text, a profile of iaprof in any of its three formats, or a trace of the PyTorch
   * profiler.
   */
  public static StackCounts read(Path file) throws IOException {
    // Names may contain invalid UTF-8, which must not make the file unreadable.
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

  /** Returns the first line that is not blank, without consuming it. */
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
