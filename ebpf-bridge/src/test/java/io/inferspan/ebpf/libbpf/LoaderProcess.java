package io.inferspan.ebpf.libbpf;

import io.inferspan.ebpf.elf.ElfSymbols;
import io.inferspan.ebpf.libbpf.UprobeTarget.Site;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Attaches programs of every kind and waits to be killed. */
final class LoaderProcess {

  private LoaderProcess() {}

  public static void main(String[] arguments) throws IOException {
    Attached attached = Attached.now();
    System.out.println("attached");
    System.in.read();
    attached.close();
  }

  /** An object with a link to a tracepoint and two kinds of links to a function. */
  record Attached(BpfObject object, List<BpfLink> links) implements AutoCloseable {

    static Attached now() throws IOException {
      BpfObject object = TestObjects.open("good");
      BpfProgram uprobe = object.program("on_call").via(KernelFeatures.probe().uprobes());
      BpfProgram perf = object.program("on_return");
      object.load();
      Path library = UprobesTest.cLibrary();
      long offset = ElfSymbols.of(library).fileOffset("getppid").orElseThrow();
      UprobeTarget target =
          new UprobeTarget(
              library, List.of(new Site(offset, 1)), (int) ProcessHandle.current().pid(), false);
      return new Attached(
          object,
          List.of(
              object.program("on_system_call").attach(),
              uprobe.attachUprobes(target),
              perf.attachUprobes(target)));
    }

    @Override
    public void close() {
      links.forEach(BpfLink::close);
      object.close();
    }
  }
}
