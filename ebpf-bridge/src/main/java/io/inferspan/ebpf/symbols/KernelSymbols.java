package io.inferspan.ebpf.symbols;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The kernel's functions from {@code /proc/kallsyms}, which shows addresses only to root. */
final class KernelSymbols {

  private static final Pattern FUNCTION =
      Pattern.compile("([0-9a-f]{1,16}) [tTwW] ([^\\t ]+)(?:[\\t ].*)?");
  private static final int MAX_SYMBOLS = 1_000_000;
  private static final int HEX = 16;

  /** The assumed maximum length of a function in bytes, because the file does not list lengths. */
  private static final long LONGEST_FUNCTION = 1 << 16;

  private final long[] starts;
  private final String[] names;

  private KernelSymbols(long[] starts, String[] names) {
    this.starts = starts;
    this.names = names;
  }

  private record Function(long start, String name) {}

  /** Reads the file; empty if the kernel hides addresses. */
  static KernelSymbols of(Path kallsyms) {
    try (Stream<String> lines = Files.lines(kallsyms, StandardCharsets.ISO_8859_1)) {
      Function[] functions =
          lines
              .map(FUNCTION::matcher)
              .filter(Matcher::matches)
              .map(KernelSymbols::function)
              .filter(function -> function.start() != 0)
              .limit(MAX_SYMBOLS)
              .sorted((a, b) -> Long.compareUnsigned(a.start(), b.start()))
              .toArray(Function[]::new);
      return new KernelSymbols(
          Stream.of(functions).mapToLong(Function::start).toArray(),
          Stream.of(functions).map(Function::name).toArray(String[]::new));
    } catch (IOException | UncheckedIOException hidden) {
      return new KernelSymbols(new long[0], new String[0]);
    }
  }

  private static Function function(Matcher line) {
    return new Function(Long.parseUnsignedLong(line.group(1), HEX), line.group(2));
  }

  boolean isEmpty() {
    return starts.length == 0;
  }

  /** Returns the function that contains an address; null if unknown. */
  @Nullable String at(long address) {
    // All kernel addresses are negative, so their signed order equals the unsigned one.
    int found = Arrays.binarySearch(starts, address);
    int index = found >= 0 ? first(found) : -found - 2;
    boolean near = index >= 0 && address - starts[index] < LONGEST_FUNCTION;
    return near ? names[index] : null;
  }

  /** Returns the index of the first of several names for one address. */
  private int first(int found) {
    int index = found;
    while (index > 0 && starts[index - 1] == starts[found]) {
      index--;
    }
    return index;
  }
}
