package io.inferspan.ebpf;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A copy of the tests' class path that any user may read, because children without privileges may
 * not be able to read the original. There is one copy per run.
 */
public final class ReadableClassPath {

  private static @Nullable Path copies;
  private static String all = "";
  private static String own = "";

  private ReadableClassPath() {}

  /** Returns the whole class path, except servers that no child runs. */
  public static synchronized String all() {
    copy();
    return all;
  }

  /** Returns only this module and its tests. */
  public static synchronized String own() {
    copy();
    return own;
  }

  private static void copy() {
    if (copies != null) {
      return;
    }
    try {
      Path made =
          Files.createTempDirectory(
              "class-path",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
      copies = made;
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
      List<String> entries = new ArrayList<>();
      List<String> ours = new ArrayList<>();
      for (String entry : classPath().split(File.pathSeparator, -1)) {
        if (entry.contains("vertx") || entry.contains("netty") || entry.isEmpty()) {
          continue;
        }
        Path copy = made.resolve(entries.size() + "-" + Path.of(entry).getFileName());
        copyTree(Path.of(entry), copy);
        entries.add(copy.toString());
        if (Files.isDirectory(copy)) {
          ours.add(copy.toString());
        }
      }
      all = String.join(File.pathSeparator, entries);
      own = String.join(File.pathSeparator, ours);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the class path. Surefire moves it to a manifest, and lists it in this property. */
  private static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path copy = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
        }
        allowEverybody(copy);
      }
    }
  }

  private static void allowEverybody(Path file) throws IOException {
    String rights = Files.isDirectory(file) ? "rwxr-xr-x" : "rw-r--r--";
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
  }

  private static void delete(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted((one, other) -> other.compareTo(one)).forEach(file -> file.toFile().delete());
    } catch (IOException left) {
      // The system clears temporary folders.
    }
  }
}
