package io.inferspan.ebpf.symbols;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The functions that a runtime compiled, from {@code /tmp/perf-PID.map}, which it writes for
 * profilers.
 */
final class PerfMap {

  private static final long MAX_BYTES = 256L << 20;
  private static final int MAX_ENTRIES = 1_000_000;
  private static final int HEX = 16;
  private static final Pattern ENTRY =
      Pattern.compile("(?:0x)?([0-9a-fA-F]{1,16}) (?:0x)?0*([0-9a-fA-F]{1,8}) (.+)");

  private final Path file;
  private NamedRanges ranges = new NamedRanges();
  private @Nullable FileTime changed;
  private long size = -1;

  PerfMap(Path file) {
    this.file = file;
  }

  @Nullable String at(long address) {
    return ranges.at(address);
  }

  /** Returns whether the file exists. */
  boolean exists() {
    return size >= 0;
  }

  /** Reads the file again if it has changed; returns whether it has. */
  boolean refresh() {
    try {
      // The observed process can write to the directory, so a link could refer to any file.
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        return false;
      }
      FileTime now = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
      long length = Files.size(file);
      if ((now.equals(changed) && length == size) || length > MAX_BYTES) {
        return false;
      }
      changed = now;
      size = length;
      ranges = read();
      return true;
    } catch (IOException gone) {
      return false;
    }
  }

  private NamedRanges read() throws IOException {
    NamedRanges read = new NamedRanges();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                Channels.newInputStream(
                    Files.newByteChannel(
                        file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))),
                StandardCharsets.UTF_8))) {
      int count = 0;
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher entry = ENTRY.matcher(line);
        if (entry.matches() && count++ < MAX_ENTRIES) {
          read.add(
              Long.parseUnsignedLong(entry.group(1), HEX),
              Long.parseLong(entry.group(2), HEX),
              entry.group(3).strip());
        }
      }
    }
    return read;
  }
}
