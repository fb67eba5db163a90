package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.libbpf.TestObjects;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;

/** A Python server that calls a stand-in for the GPU's driver in every request. */
record KitServer(Process server, int port) implements AutoCloseable {

  private static final Path KIT = Path.of("../bpf/testkit").toAbsolutePath().normalize();

  static KitServer start(Path directory) {
    TestObjects.buildLoads(directory);
    try {
      Process server =
          new ProcessBuilder(
                  "/usr/bin/python3",
                  KIT.resolve("server.py").toString(),
                  directory.toString(),
                  directory.resolve("truth").toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      BufferedReader said =
          new BufferedReader(
              new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
      return new KitServer(server, Integer.parseInt(Objects.requireNonNull(said.readLine())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    server.destroyForcibly();
  }
}
