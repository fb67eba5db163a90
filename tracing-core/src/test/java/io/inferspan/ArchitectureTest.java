package io.inferspan;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The dependencies between the packages of the core; the demo tests those between modules. */
class ArchitectureTest {

  private static final JavaClasses CORE =
      new ClassFileImporter().importPath(Path.of("target/classes"));

  @Test
  void corePackages_haveNoCycles() {
    slices().matching("io.inferspan.(*)..").should().beFreeOfCycles().check(CORE);
  }

  @Test
  void core_dependsOnNoServerAndNoForeignMemory() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.vertx..", "io.netty..", "com.sun.net..", "java.net.http..", "java.lang.foreign..")
        .check(CORE);
  }

  @Test
  void onlyTheMetricsAndRootPackages_dependOnMicrometer() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.inferspan", "io.inferspan.metrics")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.micrometer..")
        .check(CORE);
  }

  @Test
  void spansAreStarted_onlyByTheCore() {
    noClasses()
        .that()
        .resideOutsideOfPackages("io.inferspan", "io.inferspan.recording")
        .should()
        .callMethod("io.opentelemetry.api.trace.Tracer", "spanBuilder", "java.lang.String")
        .check(CORE);
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
        .haveModifier(JavaModifier.FINAL)
        .check(CORE);
  }
}
