package io.inferspan.pd.allow;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import io.inferspan.pd.config.text.HostText;
import io.inferspan.pd.files.FileWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A list from settings and, optionally, from a file that may change at any time.
 *
 * <p>An entry is a host name, an IP address or a range ({@code 10.0.0.0/8}). The file has one entry
 * per line and comments after {@code #}. An unusable file does not change the list.
 */
final class StaticAllowList implements AllowList {
  private static final System.Logger LOG = System.getLogger(StaticAllowList.class.getName());

  private final List<String> settings;
  private final @Nullable FileWatch watch;
  private volatile AllowEntries entries;

  private StaticAllowList(List<String> settings, @Nullable Path file) {
    this.settings = List.copyOf(settings);
    this.watch = file == null ? null : new FileWatch(List.of(file));
    this.entries = read(file);
  }

  /**
   * Returns a list of the settings' entries and those of {@code file}.
   *
   * @throws IllegalArgumentException with one sentence, if an entry or the file is invalid
   */
  static StaticAllowList of(List<String> entries, @Nullable Path file) {
    StaticAllowList list = new StaticAllowList(entries, file);
    if (list.watch != null && file != null) {
      list.watch.start("inferspan-pd-allow-list", () -> list.reload(file));
    }
    return list;
  }

  @Override
  public boolean allows(String hostPort) {
    return entries.allow(HostText.ofTarget(hostPort));
  }

  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
  }

  private void reload(Path file) {
    try {
      entries = read(file);
      LOG.log(
          INFO, "The allow-list has " + entries.size() + " entries since " + file + " changed.");
    } catch (IllegalArgumentException e) {
      LOG.log(WARNING, e.getMessage() + " The old list stays in use.");
    }
  }

  private AllowEntries read(@Nullable Path file) {
    AllowEntries read = new AllowEntries().add(settings, "the allow-list setting");
    return file == null ? read : read.add(lines(file), file.toString());
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .map(line -> line.indexOf('#') < 0 ? line : line.substring(0, line.indexOf('#')))
          .filter(line -> !line.isBlank())
          .toList();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "The allow-list file %s cannot be read (%s); it holds one entry per line."
              .formatted(file, e.getClass().getSimpleName()));
    }
  }
}
