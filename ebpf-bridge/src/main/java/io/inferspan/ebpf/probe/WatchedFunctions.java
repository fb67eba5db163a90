package io.inferspan.ebpf.probe;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The functions to observe in each library, each with the cookie that identifies it to the BPF
 * program.
 */
public final class WatchedFunctions {

  /** Stands for the executable of a process in place of a library's name. */
  public static final String MAIN_PROGRAM = "MAIN_PROGRAM";

  private static final Pattern LINE =
      Pattern.compile("([A-Za-z0-9_]+)\\t([A-Za-z0-9_]+)\\t0x([0-9a-f]{1,16})");

  /**
   * A library's file name, which can have a hash in a Python wheel: {@code
   * libcudart-d0da41ae.so.11}.
   */
  private static final Pattern FILE_NAME =
      Pattern.compile("([A-Za-z0-9_]+)(?:-[0-9a-f]+)?\\.so(?:\\..*)?");

  private final Map<String, Map<String, Long>> libraries = new LinkedHashMap<>();

  private WatchedFunctions() {}

  /** Parses lines of library, function and cookie, separated by tabs. */
  public static WatchedFunctions of(String table) {
    WatchedFunctions watched = new WatchedFunctions();
    table.lines().forEach(watched::add);
    return watched;
  }

  /** Returns whether a file has the name of an observed library. */
  boolean watches(String fileName) {
    return libraries.containsKey(libraryOf(fileName));
  }

  /** Returns whether functions of executables are observed. */
  boolean watchesPrograms() {
    return libraries.containsKey(MAIN_PROGRAM);
  }

  /**
   * Returns the offsets of the functions to observe in a library with this file name, each once.
   */
  List<Site> sitesIn(String fileName, ElfSymbols symbols) {
    Map<Long, Site> sites = new LinkedHashMap<>();
    libraries
        .getOrDefault(libraryOf(fileName), libraries.getOrDefault(MAIN_PROGRAM, Map.of()))
        .forEach(
            (function, cookie) ->
                symbols
                    .fileOffset(function)
                    .ifPresent(offset -> sites.putIfAbsent(offset, new Site(offset, cookie))));
    return new ArrayList<>(sites.values());
  }

  private static String libraryOf(String fileName) {
    Matcher matcher = FILE_NAME.matcher(fileName);
    return matcher.matches() ? matcher.group(1) : "";
  }

  private void add(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not a line of library, function and cookie: " + line);
    }
    libraries
        .computeIfAbsent(matcher.group(1), library -> new LinkedHashMap<>())
        .put(matcher.group(2), Long.parseUnsignedLong(matcher.group(3), 16));
  }
}
