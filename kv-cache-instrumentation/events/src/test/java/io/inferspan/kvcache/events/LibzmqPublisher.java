package io.inferspan.kvcache.events;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/** A publisher in a separate process, over libzmq and Python's msgpack. */
final class LibzmqPublisher implements AutoCloseable {

  private static final String PYTHON = "/usr/bin/python3";

  private final Process process;
  private final BufferedReader answers;
  private int next;

  private LibzmqPublisher(Process process) {
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Skips the test where there is no Python with libzmq. */
  static void assumeAvailable() throws IOException, InterruptedException {
    boolean available = Files.isExecutable(Path.of(PYTHON));
    if (available) {
      Process probe = new ProcessBuilder(PYTHON, "-c", "import zmq, msgpack").start();
      available = probe.waitFor(20, TimeUnit.SECONDS) && probe.exitValue() == 0;
    }
    String command = "apt-get install python3-zmq python3-msgpack";
    Assumptions.assumeTrue(available, "needs " + PYTHON + " with zmq and msgpack: " + command);
  }

  static LibzmqPublisher start(int port, int replayPort) throws IOException {
    Path script = Files.createTempFile("publisher", ".py");
    try (InputStream in =
        Objects.requireNonNull(LibzmqPublisher.class.getResourceAsStream("/events/publisher.py"))) {
      Files.copy(in, script, StandardCopyOption.REPLACE_EXISTING);
    }
    Process process =
        new ProcessBuilder(PYTHON, script.toString(), "" + port, "" + replayPort)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    LibzmqPublisher publisher = new LibzmqPublisher(process);
    String ready = publisher.answers.readLine();
    if (!"ready".equals(ready)) {
      throw new IOException("the publisher did not start: " + ready);
    }
    Files.delete(script);
    return publisher;
  }

  /** A port that was free a moment ago. */
  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String command(String json) {
    try {
      OutputStream out = process.getOutputStream();
      out.write((json + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
      String answer = answers.readLine();
      if (answer == null) {
        throw new IOException("the publisher has ended");
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until somebody has subscribed. */
  LibzmqPublisher subscribed() {
    if (!command("{\"op\":\"subscribed\"}").equals("done")) {
      throw new AssertionError("no subscriber connected");
    }
    return this;
  }

  /** Sets the format of replays: vllm, bare, simulator, delimited-simulator, silent. */
  LibzmqPublisher shape(String shape) {
    command("{\"op\":\"shape\",\"shape\":\"" + shape + "\"}");
    return this;
  }

  /** Publishes a batch under the next number. */
  LibzmqPublisher send(String... events) {
    return sendAs("", events);
  }

  /** Keeps a batch for replays, and does not publish it. */
  LibzmqPublisher lose(String... events) {
    return sendAs(",\"lost\":true", events);
  }

  /** Neither publishes a batch nor keeps it. */
  LibzmqPublisher loseForEver(String... events) {
    return sendAs(",\"lost\":true,\"unbuffered\":true", events);
  }

  private LibzmqPublisher sendAs(String how, String... events) {
    String all = String.join(",", events);
    command("{\"op\":\"send\",\"seq\":" + next++ + how + ",\"events\":[" + all + "]}");
    return this;
  }

  /** Publishes these frames, in hexadecimal. */
  LibzmqPublisher raw(String... frames) {
    String all =
        java.util.Arrays.stream(frames).map(f -> '"' + f + '"').collect(Collectors.joining(","));
    command("{\"op\":\"raw\",\"frames\":[" + all + "]}");
    return this;
  }

  /** Returns the first batches of the requested replays, as JSON. */
  String asked() {
    return command("{\"op\":\"asked\"}");
  }

  /** kill -9. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() throws InterruptedException {
    kill();
  }

  /** An event of one block, whose tokens count up. */
  static String stored(long hash, @Nullable Long parent, int firstToken) {
    String tokens =
        IntStream.range(firstToken, firstToken + 16)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(","));
    return "[\"BlockStored\",[" + hash + "]," + parent + ",[" + tokens + "],16,null,\"GPU\"]";
  }

  static String removed(long hash) {
    return "[\"BlockRemoved\",[" + hash + "],\"GPU\"]";
  }
}
