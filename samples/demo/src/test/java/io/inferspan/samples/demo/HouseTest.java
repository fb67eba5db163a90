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
 * The arrows of the house, over the compiled classes of all its modules.
 *
 * <p>Here, because this module is built after all of them: a test of one of them would find the
 * others' classes of the build before, or none.
 */
class HouseTest {

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

  private static final String[] ROOMS_BELOW_THE_INDEXER = {
    "io.inferspan.kvcache.block..",
    "io.inferspan.kvcache.events..",
    "io.inferspan.kvcache.index..",
    "io.inferspan.kvcache.redis..",
    "io.inferspan.kvcache.score.."
  };

  private static JavaClasses house;

  @BeforeAll
  static void read() {
    List<Path> folders =
        MODULES.stream().map(module -> StackIT.ROOT.resolve(module + "/target/classes")).toList();
    assertThat(folders).allSatisfy(folder -> assertThat(folder).isNotEmptyDirectory());
    house = new ClassFileImporter().importPaths(folders);
  }

  @Test
  void siblings_doNotKnowEachOther() {
    for (String room : SIBLINGS) {
      String[] others =
          SIBLINGS.stream()
              .filter(other -> !other.equals(room))
              .map(other -> "io.inferspan." + other + "..")
              .toArray(String[]::new);
      noClasses()
          .that()
          .resideInAPackage("io.inferspan." + room + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(others)
          .check(house);
    }
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
  void kvCacheRooms_haveNoCycles() {
    slices().matching("io.inferspan.kvcache.(*)..").should().beFreeOfCycles().check(house);
    noClasses()
        .that()
        .resideInAnyPackage(ROOMS_BELOW_THE_INDEXER)
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.inferspan.kvcache")
        .check(house);
  }

  @Test
  void kvCacheRooms_keepTheirLibrariesToThemselves() {
    onlyIn("io.inferspan.kvcache.[metrics|events|redis]", "io.micrometer..");
    onlyIn("io.inferspan.kvcache.redis..", "io.vertx..");
    onlyIn("io.inferspan.kvcache.events", "org.zeromq..", "zmq..", "org.msgpack..");
    onlyIn("io.inferspan.kvcache.index", "com.github.benmanes..");
  }

  private static void onlyIn(String room, String... libraries) {
    noClasses()
        .that()
        .resideInAPackage("io.inferspan.kvcache..")
        .and()
        .resideOutsideOfPackage(room)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(libraries)
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
        .check(house);
  }
}
