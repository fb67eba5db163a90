package io.inferspan.ebpf.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.probe.ProcessFiles.FileId;
import io.inferspan.ebpf.probe.ProcessFiles.Identity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes in a simulated {@code /proc}, such as those in containers or with replaced files. */
class ProcessFilesTest {

  @TempDir private Path proc;

  @Test
  void processName_mayContainAnyCharacter() throws IOException {
    stat(7, "a) b (c", 4711);

    assertThat(new ProcessFiles(proc).find(7)).isEqualTo(new Identity(7, 4711));
    assertThat(new ProcessFiles(proc).find(8)).isNull();
  }

  @Test
  void libraryMappedTwice_isFoundOnce() throws IOException {
    maps(7, code(5, "/lib/libcuda.so.1") + code(5, "/lib/libcuda.so.1"));

    assertThat(new ProcessFiles(proc).libraries(new Identity(7, 1), "libcuda.so.1"::equals))
        .containsOnlyKeys(new FileId("fe:01", 5));
  }

  @Test
  void dataMappingsAndOtherNames_areIgnored() throws IOException {
    maps(7, "7f30-7f40 rw-p 00002000 fe:01 5   /lib/libcuda.so.1\n" + code(6, "/lib/libm.so.6"));

    assertThat(new ProcessFiles(proc).libraries(new Identity(7, 1), "libcuda.so.1"::equals))
        .isEmpty();
  }

  @Test
  void replacedFile_isOpenedThroughItsMapping() throws IOException {
    maps(7, code(5, "/lib/libcuda.so.1 (deleted)"));

    assertThat(new ProcessFiles(proc).libraries(new Identity(7, 1), "libcuda.so.1"::equals))
        .allSatisfy(
            (file, mapped) ->
                assertThat(mapped.path()).isEqualTo(proc.resolve("7/map_files/7f10-7f20")))
        .hasSize(1);
  }

  @Test
  void fileInAContainer_isOpenedThroughTheProcessRoot() throws IOException {
    Path library = Files.createDirectories(proc.resolve("7/root/lib")).resolve("libcuda.so.1");
    Files.writeString(library, "");
    long inode = ((Number) Files.getAttribute(library, "unix:ino")).longValue();
    maps(7, code(inode, "/lib/libcuda.so.1"));

    assertThat(new ProcessFiles(proc).libraries(new Identity(7, 1), "libcuda.so.1"::equals))
        .allSatisfy((file, mapped) -> assertThat(mapped.path()).isEqualTo(library))
        .hasSize(1);
  }

  @Test
  void reusedPid_isAnotherProcess() throws IOException {
    stat(7, "python", 100);
    maps(7, code(5, "/lib/libz.so.1"));
    LibraryProbes probes = probes();
    probes.look(7);
    assertThat(probes.libraries()).hasSize(1);

    stat(7, "sh", 200);
    maps(7, "");
    probes.look(7);

    assertThat(probes.libraries()).isEmpty();
  }

  @Test
  void brokenLibrary_isReadOnceForAllItsProcesses() throws IOException {
    LibraryProbes probes = probes();
    for (int pid = 1; pid <= 3; pid++) {
      stat(pid, "python", pid);
      maps(pid, code(5, "/lib/libz.so.1"));
      probes.look(pid);
    }

    assertThat(probes.failures()).isEqualTo(1);
    assertThat(probes.libraries()).hasSize(1).allMatch(one -> one.processes() == 3);
  }

  @Test
  void programWithoutKnownFunctions_isExaminedOnceForAllItsProcesses() throws IOException {
    Path program = Files.writeString(proc.resolve("sleep"), "not an ELF file");
    LibraryProbes probes = probes(WatchedFunctions.MAIN_PROGRAM);
    for (int pid = 1; pid <= 3; pid++) {
      run(pid, program);
      probes.lookAtProgram(pid);
      probes.forget(pid);
    }
    assertThat(probes.failures()).isEqualTo(1);

    Files.writeString(program, "another version");
    probes.lookAtProgram(3);
    assertThat(probes.failures()).isEqualTo(2);
  }

  @Test
  void programOfAProcessThatHasExited_isExaminedAgainForTheNextProcess() throws IOException {
    Path program = Files.writeString(proc.resolve("sleep"), "not an ELF file");
    LibraryProbes probes = probes(WatchedFunctions.MAIN_PROGRAM);
    run(1, program);
    Files.delete(proc.resolve("1/stat"));
    probes.lookAtProgram(1);
    assertThat(probes.failures()).isZero();

    run(2, program);
    probes.lookAtProgram(2);
    assertThat(probes.failures()).isEqualTo(1);
  }

  @Test
  void randomFiles_neverThrowAndContainNothing() throws IOException {
    long seed = 11;
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    ProcessFiles files = new ProcessFiles(proc);
    for (int i = 0; i < 500; i++) {
      byte[] bytes = new byte[random.nextInt(200)];
      random.nextBytes(bytes);
      Path process = Files.createDirectories(proc.resolve("9"));
      Files.write(process.resolve("maps"), bytes);
      Files.write(process.resolve("stat"), bytes);

      assertThat(files.find(9)).isNull();
      assertThat(files.libraries(new Identity(9, 1), name -> true)).isEmpty();
    }
  }

  private static String code(long inode, String path) {
    return "7f10-7f20 r-xp 00001000 fe:01 %d                  %s\n".formatted(inode, path);
  }

  /** Adds a process with its executable, mapped as the kernel lists it. */
  private void run(int pid, Path program) throws IOException {
    stat(pid, "sleep", pid);
    maps(pid, code(5, "/bin/sleep"));
    Path exe = directory(pid).resolve("exe");
    Files.deleteIfExists(exe);
    Files.createSymbolicLink(exe, program);
  }

  private LibraryProbes probes() {
    return probes("libz");
  }

  private LibraryProbes probes(String wanted) {
    return new LibraryProbes(
        WatchedFunctions.of(wanted + "\tzlibVersion\t0x3"),
        (library, sites) -> BpfLink.all(List.of()),
        proc);
  }

  private void stat(int pid, String name, long startTicks) throws IOException {
    String fields = "S 1 1 1 0 -1 4194304 5 0 0 0 0 0 0 0 20 0 1 0 %d 9999 5".formatted(startTicks);
    Files.writeString(directory(pid).resolve("stat"), pid + " (" + name + ") " + fields + "\n");
  }

  private void maps(int pid, String maps) throws IOException {
    Files.writeString(directory(pid).resolve("maps"), maps);
  }

  private Path directory(int pid) throws IOException {
    return Files.createDirectories(proc.resolve(Integer.toString(pid)));
  }
}
