package io.inferspan.gpucheck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The contents of the bundle.
 *
 * @param lib the directory of its files
 * @param standIn the directory of the stand-in libraries for tests without a GPU; empty on a real GPU
 */
record Bundle(Path lib, String standIn) {

  static Bundle here() {
    Path home = Path.of(System.getProperty("gpucheck.home"));
    return new Bundle(home.resolve("lib"), Objects.requireNonNullElse(System.getenv("GPU_CHECK_STAND_IN"), ""));
  }

  Path file(String name) {
    return lib.resolve(name);
  }

  boolean hasStandIn() {
    return !standIn.isEmpty();
  }

  /** Returns the number of turns of a measurement; one with the stand-ins, whose figures have no meaning. */
  int rounds() {
    return hasStandIn() ? 1 : 3;
  }

  /** Returns the time for which a rate is measured. */
  double seconds() {
    return hasStandIn() ? 0.2 : 1.5;
  }

  /** Returns the driver functions that the bridge probes. */
  List<String> watched() throws IOException {
    return Files.readAllLines(file("calls.tsv")).stream()
        .filter(line -> line.startsWith("libcuda\t"))
        .map(line -> line.split("\t")[1])
        .toList();
  }

  /** Returns the command of the program that calls the driver. */
  List<String> cudaLoad() {
    return List.of(file("cuda_load").toString(), hasStandIn() ? standIn + "/libcuda.so.1" : "libcuda.so.1");
  }

  Load startCuda() throws IOException {
    return new Load(file("cuda_load"), cudaLoad());
  }

  /** Returns the command that runs a Python program. */
  List<String> python(String program, String... more) {
    String python = Objects.requireNonNullElse(System.getenv("PYTHON"), "python3");
    List<String> command = new ArrayList<>(List.of(python, "-u", file(program).toString()));
    command.addAll(List.of(more));
    if (hasStandIn()) {
      command.add(standIn);
    }
    return command;
  }

  Load startPython(String program, String... more) throws IOException {
    return new Load(file(program), python(program, more));
  }
}
