package io.inferspan.ebpf;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The dependencies between the bridge's packages. */
class PackageDependenciesTest {

  private final JavaClasses bridge = new ClassFileImporter().importPath(Path.of("target/classes"));

  @Test
  void packages_haveNoCycles() {
    slices().matching("io.inferspan.ebpf.(*)..").should().beFreeOfCycles().check(bridge);
  }

  @Test
  void onlyThreePackages_callNativeCode() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "io.inferspan.ebpf.linux", "io.inferspan.ebpf.libbpf", "io.inferspan.ebpf.ring")
        .should()
        .dependOnClassesThat()
        .haveNameMatching("java\\.lang\\.foreign\\.(Linker|SymbolLookup)(\\$.*)?")
        .check(bridge);
  }

  @Test
  void lowLevelPackages_doNotDependOnTheBridge() {
    noClasses()
        .that()
        .resideInAnyPackage("io.inferspan.ebpf.linux", "io.inferspan.ebpf.elf")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.inferspan.ebpf", "io.inferspan.ebpf.libbpf", "io.inferspan.ebpf.probe")
        .check(bridge);
  }
}
