package io.inferspan.ebpf.libbpf.loaded;

import io.inferspan.ebpf.libbpf.BpfCommand;
import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.Libbpf;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A map that is pinned in the BPF filesystem, where other processes can open it.
 *
 * <p>It stays pinned after {@link #close} and after the end of the process.
 */
public final class PinnedMap implements AutoCloseable {

  private static final String REMEDY =
      "run with CAP_BPF, and check that the map's path is in a writable BPF filesystem"
          + " (if not: mount -t bpf bpf DIRECTORY)";
  private static final int NAME_AT = 28;

  private final FileDescriptor fd;
  private final BpfMap map;

  private PinnedMap(FileDescriptor fd, BpfMap map) {
    this.fd = fd;
    this.map = map;
  }

  /**
   * The required shape of the map.
   *
   * @param name the map's name in the kernel
   * @param type the number of its type
   * @param keyBytes the size of a key
   * @param valueBytes the size of a value
   * @param entries its capacity if it is created
   */
  public record Shape(String name, int type, int keyBytes, int valueBytes, int entries) {}

  /** Opens the map at the path; returns null if there is none. */
  public static @Nullable PinnedMap open(Path path, Shape shape) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments where = Arguments.in(arena).pointer(0, arena.allocateFrom(path.toString()));
      long result = BpfCommand.OBJ_GET.call(where);
      if (Errno.ENOENT.is(result)) {
        return null;
      }
      return checked(descriptor(result, "open " + path), path, shape);
    }
  }

  /** Opens or creates the map at the path; several processes may do so concurrently. */
  public static PinnedMap openOrMake(Path path, Shape shape) {
    PinnedMap existing = open(path, shape);
    if (existing != null) {
      return existing;
    }
    makeDirectory(path);
    FileDescriptor made = make(shape);
    try (Arena arena = Arena.ofConfined()) {
      Arguments pin =
          Arguments.in(arena)
              .pointer(0, arena.allocateFrom(path.toString()))
              .word(8, made.number());
      long result = BpfCommand.OBJ_PIN.call(pin);
      if (!Errno.isError(result)) {
        return checked(made, path, shape);
      }
      made.close();
      PinnedMap others = Errno.EEXIST.is(result) ? open(path, shape) : null;
      if (others == null) {
        throw refused("pin " + path, (int) -result);
      }
      return others;
    }
  }

  private static void makeDirectory(Path path) {
    Path directory = path.toAbsolutePath().getParent();
    try {
      if (directory != null) {
        Files.createDirectories(directory);
      }
    } catch (IOException refused) {
      throw new BpfException(
          "the directory " + directory + " cannot be created (" + refused + ")", REMEDY, "");
    }
  }

  private static FileDescriptor make(Shape shape) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments arguments =
          Arguments.in(arena)
              .word(0, shape.type())
              .word(4, shape.keyBytes())
              .word(8, shape.valueBytes())
              .word(12, shape.entries())
              .text(NAME_AT, shape.name());
      return descriptor(BpfCommand.MAP_CREATE.call(arguments), "create map " + shape.name());
    }
  }

  private static FileDescriptor descriptor(long result, String attempt) {
    if (Errno.isError(result)) {
      throw refused(attempt, (int) -result);
    }
    return new FileDescriptor((int) result);
  }

  private static BpfException refused(String attempt, int errno) {
    return new BpfException(
        "the kernel did not " + attempt + ", " + Errno.describe(errno), REMEDY, "");
  }

  /** Returns the map; throws if it has another shape, and thus another purpose. */
  private static PinnedMap checked(FileDescriptor fd, Path path, Shape shape) {
    try {
      BpfMap map = new BpfMap(Libbpf.load(), shape.name(), fd.number());
      if (map.type() != shape.type()
          || map.keySize() != shape.keyBytes()
          || map.valueSize() != shape.valueBytes()) {
        throw new BpfException(
            path + " is a map of another type, key size or value size",
            "remove it, or choose another directory",
            "");
      }
      return new PinnedMap(fd, map);
    } catch (RuntimeException wrong) {
      fd.close();
      throw wrong;
    }
  }

  /** Returns the map, valid while this is open. */
  public BpfMap map() {
    return map;
  }

  @Override
  public void close() {
    fd.close();
  }
}
