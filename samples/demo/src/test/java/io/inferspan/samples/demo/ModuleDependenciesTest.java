package io.inferspan.samples.demo;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Checks the dependencies between modules, and between their packages, in the compiled classes.
 *
 * <p>The test is in this module because it is built last: in an earlier module, the test would read
 * stale classes of later modules, or none.
 */
class ModuleDependenciesTest {

  private static final List<String> MODULES =
      List.of(
          "tracing-core",
          "gateway-plugins",
          "gateway-plugins/epp",
          "kv-cache-instrumentation",
          "kv-cache-instrumentation/events",
          "kv-cache-instrumentation/redis",
          "pd-sidecar",
          "ebpf-bridge");

  private static final List<String> SIBLINGS = List.of("gateway", "epp", "kvcache", "pd", "ebpf");

  private static final String[] PACKAGES_BELOW_THE_INDEXER = {
    "io.inferspan.kvcache.block..",
    "io.inferspan.kvcache.events..",
    "io.inferspan.kvcache.index..",
    "io.inferspan.kvcache.redis..",
    "io.inferspan.kvcache.score.."
  };

  private static JavaClasses classes;

  @BeforeAll
  static void read() {
    List<Path> folders =
        MODULES.stream().map(module -> StackIT.ROOT.resolve(module + "/target/classes")).toList();
    assertThat(folders).allSatisfy(folder -> assertThat(folder).isNotEmptyDirectory());
    classes = new ClassFileImporter().importPaths(folders);
  }

  @Test
  void middleModules_doNotDependOnEachOther() {
    for (String module : SIBLINGS) {
      String[] others =
          SIBLINGS.stream()
              .filter(other -> !other.equals(module))
              .map(other -> "io.inferspan." + other + "..")
              .toArray(String[]::new);
      noClasses()
          .that()
          .resideInAPackage("io.inferspan." + module + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(others)
          .check(classes);
    }
  }

  @Test
  void onlyTheCore_startsSpans() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.inferspan", "io.inferspan.recording")
        .should()
        .callMethod("io.opentelemetry.api.trace.Tracer", "spanBuilder", "java.lang.String")
        .check(classes);
  }

  @Test
  void kvCachePackages_haveNoCycles() {
    slices().matching("io.inferspan.kvcache.(*)..").should().beFreeOfCycles().check(classes);
    noClasses()
        .that()
        .resideInAnyPackage(PACKAGES_BELOW_THE_INDEXER)
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.inferspan.kvcache")
        .check(classes);
  }

  @Test
  void kvCacheLibraries_areUsedInOnePackageEach() {
    onlyIn("io.inferspan.kvcache.[metrics|events|redis]", "io.micrometer..");
    onlyIn("io.inferspan.kvcache.redis..", "io.vertx..");
    onlyIn("io.inferspan.kvcache.events", "org.zeromq..", "zmq..", "org.msgpack..");
    onlyIn("io.inferspan.kvcache.index", "com.github.benmanes..");
  }

  private static void onlyIn(String packages, String... libraries) {
    noClasses()
        .that()
        .resideInAPackage("io.inferspan.kvcache..")
        .and()
        .resideOutsideOfPackage(packages)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(libraries)
        .check(classes);
  }

  @Test
  void kvCachePackagesBelowTheIndexer_recordNoSpans() {
    noClasses()
        .that()
        .resideInAnyPackage(PACKAGES_BELOW_THE_INDEXER)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.inferspan", "io.inferspan.catalog", "io.inferspan.semconv")
        .check(classes);
  }
}
