package io.inferspan.samples.demo;

import io.inferspan.samples.demo.Child.Plan;
import io.inferspan.samples.demo.Scenario.DemoRequest;
import io.inferspan.samples.demo.engine.Behaviour;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Builds the command that starts the test kit's stand-in for vLLM V1: an API server on uvicorn,
 * uvloop, httptools and FastAPI, and an engine process behind ZMQ that runs several requests in one
 * step. The stand-in needs the packages of {@link #INSTALL}.
 */
final class BatchEngine {

  static final String NAME = "vllm-batch";

  /** The command that installs the Debian packages. */
  static final String INSTALL =
      "apt-get install python3-fastapi python3-httptools python3-msgpack python3-uvicorn"
          + " python3-uvloop python3-zmq";

  private static final String PYTHON = "/usr/bin/python3";
  private static final Path PROGRAM = Path.of("bpf/testkit/engine/engine");
  private static final long CHECK_SECONDS = 10;
  private static final String FIND_PACKAGES =
      """
      import importlib.util as u, sys
      sys.exit(any(u.find_spec(m) is None for m in "fastapi httptools msgpack uvicorn uvloop zmq".split()))
      """;

  private BatchEngine() {}

  /** Returns whether the packages are installed. */
  static boolean isInstalled() throws IOException {
    Process check;
    try {
      check = new ProcessBuilder(PYTHON, "-c", FIND_PACKAGES).redirectErrorStream(true).start();
    } catch (IOException noPython) {
      return false;
    }
    try {
      return check.waitFor(CHECK_SECONDS, TimeUnit.SECONDS) && check.exitValue() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      check.destroyForcibly();
    }
  }

  /**
   * Returns the plan to start the engine, with the vLLM plugin. The device takes 3 ms per generated
   * token and 0.1 ms per prompt token.
   */
  static Plan plan(Path root, int port, Path cuda) {
    Path folder = cuda.resolveSibling("");
    Map<String, String> environment =
        Map.of(
            "INFERSPAN_CKP",
            folder.resolve("libinferspan_ckp.so").toString(),
            "PYTHONPATH",
            folder + ":" + root.resolve("bpf/ckp").toAbsolutePath());
    List<String> command = new ArrayList<>(List.of(PYTHON));
    command.add(root.resolve(PROGRAM).toAbsolutePath().toString());
    command.addAll(List.of("--port=" + port, "--libraries=" + folder));
    command.addAll(List.of("--set=decode_ns=3000000", "--set=prefill_ns=100000"));
    return new Plan(NAME, command, environment, Integer.toString(port));
  }

  /** Returns a request with this number of words. Each word is a token. */
  static DemoRequest request(String id, int words) {
    String body =
        """
        {"model":"batch","stream":true,"max_tokens":40,"messages":[{"role":"user","content":"%s"}]}"""
            .formatted("word ".repeat(words).strip());
    return new DemoRequest(id, body, Behaviour.NORMAL, Integer.MAX_VALUE);
  }
}
