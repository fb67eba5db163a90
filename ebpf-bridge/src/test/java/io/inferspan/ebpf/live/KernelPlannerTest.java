package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.inferspan.ebpf.BridgeScope;
import io.inferspan.ebpf.kernel.KernelSettings.Cgroup;
import io.inferspan.ebpf.linux.SystemView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cgroup in the settings of the kernel's programs, and in the selection of processes. */
class KernelPlannerTest {

  private final Path root = SystemView.cgroupRoot();
  private final Path outer = root.resolve("inferspan-" + ProcessHandle.current().pid());
  private final Path inner = outer.resolve("pod");

  @BeforeEach
  void needsHierarchy() throws IOException {
    assumeTrue(Files.exists(root.resolve("cgroup.procs")), "needs a cgroup v2 hierarchy");
    assumeTrue(Files.isWritable(root.resolve("cgroup.procs")), "needs root: sudo ./check");
    Files.createDirectories(inner);
  }

  @AfterEach
  void remove() throws IOException {
    Files.deleteIfExists(inner);
    Files.deleteIfExists(outer);
  }

  @Test
  void cgroup_isTheInodeNumberAndDepthOfItsDirectory() throws IOException {
    assertThat(cgroup(inner.toString())).isEqualTo(new Cgroup(number(inner), 2));
    assertThat(cgroup(outer.toString())).isEqualTo(new Cgroup(number(outer), 1));
    assertThat(choice(inner.toString())).isEqualTo("/" + outer.getFileName() + "/pod");
  }

  @Test
  void rootCgroup_hasDepthZero() throws IOException {
    assertThat(cgroup(root.toString())).isEqualTo(new Cgroup(number(root), 0));
    assertThat(choice(root.toString())).isEqualTo("/");
  }

  @Test
  void pathsToTheSameDirectory_areTheSameCgroup() throws IOException {
    for (String way : new String[] {inner + "/", outer + "/./pod", inner + "/../pod"}) {
      assertThat(cgroup(way)).isEqualTo(new Cgroup(number(inner), 2));
      assertThat(choice(way)).isEqualTo("/" + outer.getFileName() + "/pod");
    }
  }

  @Test
  void directoryOutsideTheHierarchy_isRefused(@TempDir Path elsewhere) {
    for (String wrong :
        new String[] {elsewhere.toString(), root + "/..", root + "/no-such-group"}) {
      assertThatThrownBy(() -> cgroup(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("the cgroup " + wrong + " is not a directory below " + root);
    }
  }

  @Test
  void emptySetting_isAnyCgroup() {
    assertThat(cgroup("")).isEqualTo(Cgroup.any());
    assertThat(choice("")).isEmpty();
  }

  private static Cgroup cgroup(String directory) {
    return KernelPlanner.cgroup(scope(directory));
  }

  private static String choice(String directory) {
    return KernelPlanner.choice(scope(directory)).cgroup();
  }

  private static BridgeScope scope(String directory) {
    return new BridgeScope(true, Set.of(), Set.of(), directory);
  }

  private static long number(Path directory) throws IOException {
    return ((Number) Files.getAttribute(directory, "unix:ino")).longValue();
  }
}
