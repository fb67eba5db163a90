package io.inferspan.samples.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How each program is started: the jars that the build leaves, and flags for a JVM that is one of
 * ten on a small machine.
 */
final class Programs {

  private static final Path STARTS = Path.of("samples/demo/target/starts");
  private static final Path CUDA = Path.of("samples/demo/target/cuda/libcuda.so.1");
  private static final List<String> SMALL =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-Xmx160m",
          "-XX:-UsePerfData",
          // Both save Netty and reflection some work at each start.
          "-Dio.netty.noUnsafe=false",
          "-Djdk.reflect.useNativeAccessorOnly=true",
          // A start that does not fit any more is passed over, and nobody can do anything about it.
          "-Xlog:disable",
          "-Xlog:all=error:stderr",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  private final Path root;
  private final boolean learn;
  private final Set<Path> learnt = new HashSet<>();

  /**
   * The programs of a repository that has been built.
   *
   * @param root the repository
   * @param learn whether the first process of each program writes down what it loads, so that all
   *     start faster from then on
   */
  Programs(Path root, boolean learn) {
    this.root = root;
    this.learn = learn;
  }

  /** What is started as a user would, by its jar. */
  enum Jar {
    DESK("samples/desk/target/inferspan-desk.jar"),
    GATEWAY("samples/vertx-gateway/target/inferspan-vertx-gateway.jar"),
    SIDECAR("pd-sidecar/target/inferspan-pd-sidecar.jar"),
    AGENT("ebpf-bridge/target/inferspan-ebpf-bridge.jar");

    private final Path path;

    Jar(String path) {
      this.path = Path.of(path);
    }
  }

  /** Whether processes write down what they load, which they do at their end. */
  boolean learn() {
    return learn;
  }

  /** The jars that are not there. */
  List<Path> missing() {
    List<Path> missing = new ArrayList<>();
    for (Jar jar : Jar.values()) {
      if (!Files.isRegularFile(root.resolve(jar.path))) {
        missing.add(jar.path);
      }
    }
    return missing;
  }

  /** The stand-in for the CUDA driver; null where it could not be built. */
  @Nullable Path cuda() {
    Path library = root.resolve(CUDA).toAbsolutePath();
    return Files.isRegularFile(library) ? library : null;
  }

  /** A program's command. */
  List<String> run(Jar jar, List<String> arguments) {
    List<String> command = java(jar.name());
    command.add("-jar");
    command.add(root.resolve(jar.path).toString());
    command.addAll(arguments);
    return command;
  }

  /** The command of a program that is on this one's class path. */
  List<String> run(Class<?> main, List<String> arguments) {
    List<String> command = java(main.getSimpleName());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(arguments);
    return command;
  }

  private List<String> java(String program) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SMALL);
    Path start = root.resolve(STARTS).resolve(program + ".aot");
    if (learn && learnt.add(start)) {
      command.add("-XX:AOTCacheOutput=" + start);
    } else if (!learn && Files.isRegularFile(start)) {
      command.add("-XX:AOTCache=" + start);
    }
    return command;
  }
}
