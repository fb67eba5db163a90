package io.inferspan.ebpf.libbpf.loaded;

import io.inferspan.ebpf.libbpf.BpfCommand;
import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.Libbpf;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A map in the kernel, created by any process and opened by its id.
 *
 * <p>An open map outlives its creator, so close it soon.
 */
public final class LoadedMap implements AutoCloseable {

  private static final int READ_ONLY = 1 << 3;
  private static final int INFO_BYTES = 40;
  private static final int NAME_AT = 24;

  private final FileDescriptor fd;
  private final BpfMap map;

  private LoadedMap(FileDescriptor fd, BpfMap map) {
    this.fd = fd;
    this.map = map;
  }

  /** Opens a map for reading; returns null if it does not exist or may not be opened. */
  public static @Nullable LoadedMap open(int number) {
    return open(number, READ_ONLY);
  }

  /** Opens a map for reading and writing, which the kernel requires for mapping its memory. */
  public static @Nullable LoadedMap openToShare(int number) {
    return open(number, 0);
  }

  private static @Nullable LoadedMap open(int number, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      long result =
          BpfCommand.MAP_GET_FD_BY_ID.call(Arguments.in(arena).word(0, number).word(8, flags));
      if (Errno.isError(result)) {
        return null;
      }
      return described(new FileDescriptor((int) result), number, arena);
    }
  }

  private static LoadedMap described(FileDescriptor fd, int number, Arena arena) {
    try {
      MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
      BpfObject.describe(fd.number(), info, "map " + number);
      return new LoadedMap(fd, new BpfMap(Libbpf.load(), info.getString(NAME_AT), fd.number()));
    } catch (RuntimeException e) {
      fd.close();
      throw e;
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
