package io.inferspan.samples.ebpf.cost;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.libbpf.UprobeTarget;
import io.inferspan.ebpf.ring.RingMemory;
import io.inferspan.ebpf.ring.RingReader;
import io.inferspan.ebpf.ring.RingThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;

/**
 * Attaches a minimal program of {@code floor.bpf.c} to a function, to measure the minimum cost of
 * probes.
 */
final class Floor implements Subject.Watching {

  private static final long RING_BYTES = 16L << 20;

  private final BpfObject object;
  private final RingMemory memory;
  private final RingThread reader;
  private final BpfLink link;

  private Floor(BpfObject object, BpfLink link) {
    this.object = object;
    this.link = link;
    this.memory = RingMemory.map(object.map("ring").fd(), RING_BYTES);
    this.reader =
        RingThread.start(
            new RingReader(memory),
            event -> {},
            timeoutMillis -> {
              Waiting.millis(1);
              return false;
            });
  }

  static Floor attach(Kit kit, String program, String function) {
    try {
      BpfObject object = BpfObject.open("floor", Files.readAllBytes(kit.floor()));
      object.programs().forEach(each -> each.via(UprobeMode.SESSION));
      object.load();
      long offset = ElfSymbols.of(kit.library()).fileOffset(function).orElseThrow();
      UprobeTarget target =
          new UprobeTarget(
              kit.library(),
              List.of(new UprobeTarget.Site(offset, 0)),
              UprobeTarget.EVERY_PROCESS,
              false);
      return new Floor(object, object.program(program).attachUprobes(target));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    link.close();
    reader.close();
    memory.close();
    object.close();
  }
}
