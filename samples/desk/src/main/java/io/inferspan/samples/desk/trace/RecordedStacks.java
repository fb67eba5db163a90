package io.inferspan.samples.desk.trace;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.samples.desk.otlp.TraceId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the folded stacks that the eBPF bridge's {@code record --by-trace} wrote into a directory.
 * Each stack begins with its trace id. Files are read when a trace is requested.
 */
public final class RecordedStacks {

  private static final long MAX_BYTES = 256L << 20;
  private static final int MAX_FRAMES = 256;
  private static final int MAX_STACKS = 20_000;
  private static final int MAX_NAME_CHARS = 300;

  private final @Nullable Path directory;

  /** Creates a reader of the {@code .folded} files in a directory; null for no files. */
  public RecordedStacks(@Nullable Path directory) {
    this.directory = directory;
  }

  /** Returns the stacks of a trace as a flame graph, or null if there are none. */
  public @Nullable Flame of(TraceId trace) {
    String prefix = "trace " + trace + ";";
    Flame flame = new Flame("stacks", Flame.Kind.CPU);
    long bytes = 0;
    for (Path file : files()) {
      try (Stream<String> lines = Files.lines(file, ISO_8859_1)) {
        bytes += Files.size(file);
        if (bytes > MAX_BYTES) {
          break;
        }
        lines
            .filter(line -> line.startsWith(prefix))
            .limit(MAX_STACKS)
            .forEach(line -> add(flame, new String(line.getBytes(ISO_8859_1), UTF_8)));
      } catch (IOException | UncheckedIOException gone) {
        // Another process may be replacing the file; the next request reads it.
      }
    }
    return flame.total() == 0 ? null : flame;
  }

  private List<Path> files() {
    if (directory == null) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> file.toString().endsWith(".folded")).sorted().toList();
    } catch (IOException | UncheckedIOException unreadable) {
      return List.of();
    }
  }

  private static void add(Flame flame, String line) {
    int blank = line.lastIndexOf(' ');
    String count = line.substring(blank + 1);
    if (!count.matches("[0-9]{1,18}")) {
      return;
    }
    Flame at = flame;
    String[] frames = line.substring(0, blank).split(";", -1);
    for (int i = 1; i < Math.min(frames.length, MAX_FRAMES); i++) {
      String name = ShortText.of(frames[i], MAX_NAME_CHARS);
      at = at.child(name, Flame.Kind.ofFunction(name));
    }
    at.addOwn(Long.parseLong(count));
  }
}
