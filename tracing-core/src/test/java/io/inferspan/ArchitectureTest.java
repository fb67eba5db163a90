package io.inferspan;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The arrows of the house, over the compiled classes of every module that is there. */
class ArchitectureTest {

  private static final List<String> MODULES =
      List.of(
          "tracing-core",
          "gateway-plugins",
          "kv-cache-instrumentation",
          "pd-sidecar",
          "ebpf-bridge");

  private static final String[] ROOMS_BELOW_THE_INDEXER = {
    "io.inferspan.kvcache.block..",
    "io.inferspan.kvcache.events..",
    "io.inferspan.kvcache.index..",
    "io.inferspan.kvcache.score.."
  };

  private final JavaClasses core = new ClassFileImporter().importPath(Path.of("target/classes"));

  private final JavaClasses house =
      new ClassFileImporter()
          .importPaths(
              MODULES.stream()
                  .map(module -> Path.of("..", module, "target/classes"))
                  .filter(Files::isDirectory)
                  .toList());

  @Test
  void coreRooms_haveNoCycles() {
    slices().matching("io.inferspan.(*)..").should().beFreeOfCycles().check(core);
  }

  @Test
  void core_knowsNoServerAndNoForeignMemory() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.vertx..", "io.netty..", "com.sun.net..", "java.net.http..", "java.lang.foreign..")
        .check(core);
  }

  @Test
  void onlyTheMetricsRoomAndTheDoor_knowMicrometer() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.inferspan", "io.inferspan.metrics")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.micrometer..")
        .check(core);
  }

  @Test
  void kvCacheRooms_haveNoCycles() {
    slices()
        .matching("io.inferspan.kvcache.(*)..")
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true)
        .check(house);
    noClasses()
        .that()
        .resideInAnyPackage(ROOMS_BELOW_THE_INDEXER)
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.inferspan.kvcache")
        .allowEmptyShould(true)
        .check(house);
  }

  @Test
  void kvCacheRooms_keepTheirLibrariesToThemselves() {
    onlyIn("io.inferspan.kvcache.metrics", "io.micrometer..");
    onlyIn("io.inferspan.kvcache.index.redis..", "io.vertx..");
    onlyIn("io.inferspan.kvcache.events", "org.zeromq..", "zmq..", "org.msgpack..");
    onlyIn("io.inferspan.kvcache.index", "com.github.benmanes..");
  }

  private void onlyIn(String room, String... libraries) {
    noClasses()
        .that()
        .resideInAPackage("io.inferspan.kvcache..")
        .and()
        .resideOutsideOfPackage(room)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(libraries)
        .allowEmptyShould(true)
        .check(house);
  }

  @Test
  void kvCacheRoomsBelowTheIndexer_knowNoSpans() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOMS_BELOW_THE_INDEXER)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.inferspan", "io.inferspan.catalog", "io.inferspan.semconv")
        .allowEmptyShould(true)
        .check(house);
  }

  @Test
  void siblings_doNotKnowEachOther() {
    List<String> siblings = List.of("gateway", "epp", "kvcache", "pd", "ebpf");
    for (String room : siblings) {
      String[] others =
          siblings.stream()
              .filter(other -> !other.equals(room) && !areOneModule(room, other))
              .map(other -> "io.inferspan." + other + "..")
              .toArray(String[]::new);
      noClasses()
          .that()
          .resideInAPackage("io.inferspan." + room + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(others)
          .allowEmptyShould(true)
          .check(house);
    }
  }

  private static boolean areOneModule(String room, String other) {
    return Stream.of(room, other).allMatch(List.of("gateway", "epp")::contains);
  }

  @Test
  void spansAreStarted_onlyByTheCore() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.inferspan", "io.inferspan.recording")
        .should()
        .callMethod("io.opentelemetry.api.trace.Tracer", "spanBuilder", "java.lang.String")
        .check(house);
  }

  @Test
  void classes_areFinalOrInterfaces() {
    classes()
        .that()
        .areTopLevelClasses()
        .and()
        .areNotInterfaces()
        .and()
        .doNotHaveSimpleName("package-info")
        .and()
        .doNotHaveSimpleName("OperationSpan")
        .should()
        .haveModifier(com.tngtech.archunit.core.domain.JavaModifier.FINAL)
        .check(core);
  }
}
