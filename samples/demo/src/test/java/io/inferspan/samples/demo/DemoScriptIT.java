package io.inferspan.samples.demo;

import static java.nio.file.attribute.PosixFilePermissions.fromString;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The steps of {@code ./demo} before it starts the demo: runs the script in a tree of empty
 * modules, with a Maven and a Java that only record that they were called.
 */
class DemoScriptIT {

  private static final String DESK_JAR = "samples/desk/target/inferspan-desk.jar";
  private static final String LIBRARY = "samples/vertx-gateway/target/lib/library.jar";
  private static final int NOBODY = 65_534;

  /** A build that produces the same bytes each time. */
  private static final String MAVEN =
      """
      #!/bin/sh
      echo build >>steps
      for jar in samples/demo/target/inferspan-demo.jar \\
        samples/desk/target/inferspan-desk.jar \\
        samples/vertx-gateway/target/inferspan-vertx-gateway.jar \\
        pd-sidecar/target/inferspan-pd-sidecar.jar \\
        ebpf-bridge/target/inferspan-ebpf-bridge.jar \\
        samples/demo/target/lib/library.jar samples/desk/target/lib/library.jar \\
        samples/vertx-gateway/target/lib/library.jar; do
        mkdir -p "$(dirname "$jar")"
        echo "bytes of $jar" >"$jar"
      done
      """;

  private static final String JAVA =
      """
      #!/bin/sh
      case "$*" in *--learn*) echo learn ;; *) echo run ;; esac >>steps
      """;

  @TempDir Path root;

  @BeforeEach
  void createTree() throws Exception {
    // Readable for other users, because one test runs as another user.
    Files.setPosixFilePermissions(root, fromString("rwxr-xr-x"));
    program("demo", Files.readString(StackIT.ROOT.resolve("demo")));
    program("bin/mvn", MAVEN);
    program("jdk/bin/java", JAVA);
    program("samples/find-jdk", "#!/bin/sh\necho " + root.resolve("jdk") + "\n");
    program("samples/demo/build-cuda", "#!/bin/sh\nmkdir -p \"$1\"\n");
    for (String source : List.of("pom.xml", ".mvn/jvm.config", "jdk/release", "steps")) {
      file(source, "");
    }
    for (String folder : List.of("bpf/prebuilt", "bpf/testkit/fake")) {
      file(folder + "/source", "");
    }
    for (String module : modules()) {
      file(module + "/pom.xml", "");
      file(module + "/src/main/Source.java", "");
    }
    makeOld();
    Files.setPosixFilePermissions(root.resolve("steps"), fromString("rw-rw-rw-"));
  }

  @Test
  void firstStart_buildsAndRecordsCaches_andTheNextOnlyStarts() throws Exception {
    assertThat(steps()).containsExactly("build", "learn", "run");
    assertThat(steps()).containsExactly("run");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "samples/demo/target/inferspan-demo.jar",
        DESK_JAR,
        "samples/vertx-gateway/target/inferspan-vertx-gateway.jar",
        "pd-sidecar/target/inferspan-pd-sidecar.jar",
        "ebpf-bridge/target/inferspan-ebpf-bridge.jar",
        "samples/desk/target/lib"
      })
  void missingJar_isBuiltAgain(String gone) throws Exception {
    steps();
    delete(root.resolve(gone));

    // The build produces the same bytes, so the AOT caches stay valid.
    assertThat(steps()).containsExactly("build", "run");
    assertThat(root.resolve(gone)).exists();
  }

  @ParameterizedTest
  @ValueSource(strings = {DESK_JAR, LIBRARY})
  void identicalJars_keepTheCaches_andGetTheirOldModificationTime(String jar) throws Exception {
    steps();
    FileTime learnt = Files.getLastModifiedTime(root.resolve(jar));
    Files.setLastModifiedTime(root.resolve(jar), FileTime.from(Instant.now().plusSeconds(60)));

    assertThat(steps()).containsExactly("run");
    assertThat(Files.getLastModifiedTime(root.resolve(jar))).isEqualTo(learnt);
  }

  @ParameterizedTest
  @ValueSource(strings = {DESK_JAR, LIBRARY, "jdk/release"})
  void changedJars_renewTheCaches_evenIfTheyAreOlder(String changed) throws Exception {
    steps();
    Files.writeString(root.resolve(changed), "others");
    Files.setLastModifiedTime(root.resolve(changed), FileTime.from(Instant.EPOCH));

    assertThat(steps()).containsExactly("learn", "run");
    assertThat(steps()).containsExactly("run");
  }

  @Test
  void newerSource_isBuilt() throws Exception {
    steps();
    Path source = root.resolve("kv-cache-instrumentation/src/main/Source.java");
    Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));

    assertThat(steps()).startsWith("build");
  }

  @Test
  void userWithoutWriteAccess_startsTheDemo_withoutRecordingCaches() throws Exception {
    steps();
    Files.writeString(root.resolve(DESK_JAR), "others");

    assertThat(stepsOfAnotherUser()).containsExactly("run");
  }

  @Test
  void userWithoutWriteAccess_getsAnError_ifTheDemoIsNotBuilt() throws Exception {
    Files.createDirectories(root.resolve("samples/demo/target"));

    Process started = start(ofAnotherUser());

    assertThat(new String(started.getErrorStream().readAllBytes(), StandardCharsets.UTF_8))
        .contains("The demo is not built yet")
        .contains("cannot write to samples/demo/target");
    assertThat(started.waitFor()).isEqualTo(1);
    assertThat(root.resolve("steps")).isEmptyFile();
  }

  /** Runs the script; returns the commands that it calls, in order. */
  private List<String> steps() throws Exception {
    return steps(List.of());
  }

  private List<String> stepsOfAnotherUser() throws Exception {
    return steps(ofAnotherUser());
  }

  /** Returns the command prefix for a user who may not write: root may write anywhere. */
  private List<String> ofAnotherUser() throws IOException {
    if (Files.isWritable(Path.of("/root")) && "root".equals(System.getProperty("user.name"))) {
      return List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
    }
    Files.setPosixFilePermissions(root.resolve("samples/demo/target"), fromString("r-xr-xr-x"));
    return List.of();
  }

  private List<String> steps(List<String> before) throws Exception {
    Files.writeString(root.resolve("steps"), "");
    Process started = start(before);
    String said = new String(started.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(started.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(started.exitValue()).as(said).isZero();
    return Files.readAllLines(root.resolve("steps"));
  }

  private Process start(List<String> before) throws IOException {
    List<String> command = new ArrayList<>(before);
    command.addAll(List.of("./demo", "--once"));
    ProcessBuilder builder = new ProcessBuilder(command).directory(root.toFile());
    builder.environment().put("PATH", root.resolve("bin") + ":/usr/bin:/bin");
    return builder.start();
  }

  /** Returns the modules that the script builds. */
  private static List<String> modules() {
    return List.of(
        "tracing-core",
        "tracing-core/testing",
        "gateway-plugins",
        "gateway-plugins/epp",
        "kv-cache-instrumentation",
        "pd-sidecar",
        "ebpf-bridge",
        "samples/prefix-routing",
        "samples/vertx-gateway",
        "samples/desk",
        "samples/demo");
  }

  /** Sets the modification times of all files to a time before the build. */
  private void makeOld() throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path each : files.toList()) {
        Files.setLastModifiedTime(each, FileTime.from(Instant.now().minusSeconds(60)));
      }
    }
  }

  private void program(String name, String text) throws IOException {
    file(name, text);
    Files.setPosixFilePermissions(root.resolve(name), fromString("rwxr-xr-x"));
  }

  private void file(String name, String text) throws IOException {
    Path path = root.resolve(name);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
  }

  private static void delete(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      try (Stream<Path> within = Files.list(path)) {
        for (Path each : within.toList()) {
          delete(each);
        }
      }
    }
    Files.delete(path);
  }
}
