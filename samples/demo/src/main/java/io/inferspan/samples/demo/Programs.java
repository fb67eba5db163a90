package io.inferspan.samples.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The commands of the demo's programs: the jars of the build, with flags for ten JVMs on a small
 * machine.
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
          // Both save work at each start of Netty and reflection.
          "-Dio.netty.noUnsafe=false",
          "-Djdk.reflect.useNativeAccessorOnly=true",
          // A cache that does not fit any more is ignored, without warnings.
          "-Xlog:disable",
          "-Xlog:all=error:stderr",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  private final Path root;
  private final boolean learn;
  private final Set<Path> learnt = new HashSet<>();

  /**
   * Creates the commands for a repository that was built.
   *
   * @param root the repository
   * @param learn whether the first process of each program writes an AOT cache, so that later ones
   *     start faster
   */
  Programs(Path root, boolean learn) {
    this.root = root;
    this.learn = learn;
  }

  /** Programs that are started by their jar, as a user would. */
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

  /** Returns whether processes write AOT caches, which they do when they end. */
  boolean learn() {
    return learn;
  }

  /** Returns the jars that are missing. */
  List<Path> missing() {
    List<Path> missing = new ArrayList<>();
    for (Jar jar : Jar.values()) {
      if (!Files.isRegularFile(root.resolve(jar.path))) {
        missing.add(jar.path);
      }
    }
    return missing;
  }

  /** Returns the stand-in for the CUDA driver; null if it could not be built. */
  @Nullable Path cuda() {
    Path library = root.resolve(CUDA).toAbsolutePath();
    return Files.isRegularFile(library) ? library : null;
  }

  /** Returns the repository. */
  Path root() {
    return root;
  }

  /** Returns the command of a program. */
  List<String> run(Jar jar, List<String> arguments) {
    List<String> command = java(jar.name());
    command.add("-jar");
    command.add(root.resolve(jar.path).toString());
    command.addAll(arguments);
    return command;
  }

  /** Returns the command of a program on this process's class path. */
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
