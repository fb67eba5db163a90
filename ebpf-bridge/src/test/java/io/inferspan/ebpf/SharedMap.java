package io.inferspan.ebpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.loaded.PinnedMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The map of shared contexts as another program opens it, in a separate BPF filesystem. */
final class SharedMap implements AutoCloseable {

  private static final PinnedMap.Shape SHAPE =
      new PinnedMap.Shape("traces_ctx_v1", 9, 8, 24, 1 << 14);

  private final Path directory;
  private @Nullable PinnedMap pinned;

  private SharedMap(Path directory) {
    this.directory = directory;
  }

  static SharedMap mount(Path parent) {
    TestKit.directory();
    try {
      Path directory = Files.createDirectory(parent.resolve("bpf"));
      ChildProcess.run(List.of("mount", "-t", "bpf", "bpf", directory.toString()));
      return new SharedMap(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the mount point of the BPF filesystem. */
  Path directory() {
    return directory;
  }

  Path path() {
    return directory.resolve("otel").resolve("traces_ctx_v1");
  }

  /** Creates the map as the contract defines it, or opens the existing one. */
  SharedMap open() {
    if (pinned == null) {
      pinned = PinnedMap.openOrMake(path(), SHAPE);
    }
    return this;
  }

  /** Creates a map that violates the contract. */
  void makeOfAnotherShape() {
    PinnedMap.openOrMake(path(), new PinnedMap.Shape("other", 9, 4, 24, 16)).close();
  }

  /** Returns the trace and span ids in a thread's entry; null if there is none. */
  @Nullable String served(long pid, long tid) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ids = arena.allocate(24, 8);
      boolean there = map().map().get(arena.allocateFrom(JAVA_LONG, pid << 32 | tid), ids);
      return there ? HexFormat.of().formatHex(ids.toArray(JAVA_BYTE)) : null;
    }
  }

  /** Writes the entry of a thread. */
  void publish(long pid, long tid, String ids) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(24, 8);
      value.copyFrom(MemorySegment.ofArray(HexFormat.of().parseHex(ids)));
      map().map().put(arena.allocateFrom(JAVA_LONG, pid << 32 | tid), value);
    }
  }

  private PinnedMap map() {
    open();
    if (pinned == null) {
      throw new IllegalStateException("not open");
    }
    return pinned;
  }

  @Override
  public void close() {
    if (pinned != null) {
      pinned.close();
    }
    ChildProcess.run(List.of("umount", "-l", directory.toString()));
  }
}
