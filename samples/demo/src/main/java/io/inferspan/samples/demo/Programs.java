package io.inferspan.samples.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Builds the command lines of the demo's programs, with JVM flags that suit ten JVMs on a small
 * machine.
 */
final class Programs {

  private static final Path AOT_CACHES = Path.of("samples/demo/target/starts");
  private static final Path CUDA = Path.of("samples/demo/target/cuda/libcuda.so.1");
  private static final List<String> JVM_FLAGS =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-Xmx160m",
          "-XX:-UsePerfData",
          // These two speed up the start of Netty and of reflection.
          "-Dio.netty.noUnsafe=false",
          "-Djdk.reflect.useNativeAccessorOnly=true",
          // Without warnings: the JVM prints one for an outdated AOT cache, which it then ignores.
          "-Xlog:disable",
          "-Xlog:all=error:stderr",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  private final Path root;
  private final boolean learn;
  private final Set<Path> learnt = new HashSet<>();

  /**
   * Creates the commands for a built repository.
   *
   * @param root the root of the repository
   * @param learn whether the first process of each program writes an AOT cache for faster starts
   *     later
   */
  Programs(Path root, boolean learn) {
    this.root = root;
    this.learn = learn;
  }

  /** The programs that the demo starts from their jars, as a user would. */
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

  /** Returns whether processes write AOT caches when they end. */
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

  /** Returns the path of the CUDA stand-in, or null if it was not built. */
  @Nullable Path cuda() {
    Path library = root.resolve(CUDA).toAbsolutePath();
    return Files.isRegularFile(library) ? library : null;
  }

  /** Returns the root of the repository. */
  Path root() {
    return root;
  }

  /** Returns the command that runs a jar. */
  List<String> run(Jar jar, List<String> arguments) {
    List<String> command = java(jar.name());
    command.add("-jar");
    command.add(root.resolve(jar.path).toString());
    command.addAll(arguments);
    return command;
  }

  /** Returns the command that runs a main class on this process's class path. */
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
    command.addAll(JVM_FLAGS);
    Path cache = root.resolve(AOT_CACHES).resolve(program + ".aot");
    if (learn && learnt.add(cache)) {
      command.add("-XX:AOTCacheOutput=" + cache);
    } else if (!learn && Files.isRegularFile(cache)) {
      command.add("-XX:AOTCache=" + cache);
    }
    return command;
  }
}
