package io.inferspan.ebpf.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Identities from cgroups, named as container runtimes do, and from executables and titles. */
class ProcessIdentityTest {

  private static final String ID =
      "3f5e0ec2a3c2b8d0e4f1a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091";
  private static final String OUTER =
      "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
  private static final String UID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  private static final String HASH = "0123456789abcdef0123456789abcdef";

  @TempDir private Path proc;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // cgroup v2
        "0::/system.slice/docker-ID.scope|ID|",
        "0::/docker/ID|ID|",
        "0::/machine.slice/libpod-ID.scope/container|ID|",
        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice"
            + "/cri-containerd-ID.scope|ID|UID",
        "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podUID_.slice"
            + "/crio-ID.scope|ID|UID",
        "0::/kubepods.slice/kubepods-podUID_.slice/crio-ID.scope/container|ID|UID",
        "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podHASH.slice"
            + "/cri-containerd-ID.scope|ID|HASH",
        "0::/kubepods/burstable/podUID/ID|ID|UID",
        "0::/k8s.io/kubepods-podUID_.slice:cri-containerd:ID|ID|UID",
        // As seen by an agent in another cgroup namespace.
        "0::/../../kubepods-burstable-podUID_.slice/cri-containerd-ID.scope|ID|UID",
        // A node that is a container.
        "0::/docker/OUTER/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-podUID_.slice"
            + "/cri-containerd-ID.scope|ID|UID",
        // A container's monitor, which is not in the container.
        "0::/kubepods.slice/kubepods-podUID_.slice/crio-conmon-ID.scope||UID",
        "0::/user.slice/user-1000.slice/session-3.scope||",
        "0::/||",
        // cgroup v1
        "12:memory:/kubepods/besteffort/podUID/ID|ID|UID",
        "5:cpu,cpuacct:/docker/ID|ID|",
        "3:cpuset:/ecs/0f1e2d3c4b5a69788796a5b4c3d2e1f0/ID|ID|",
        "1:name=systemd:/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID_.slice"
            + "/docker-ID.scope|ID|UID",
      })
  void cgroup_namesContainerAndPod(String line, @Nullable String container, @Nullable String pod)
      throws IOException {
    assertThat(identity(filled(line)))
        .isEqualTo(new ProcessIdentity(null, filled(container), filled(pod), null));
  }

  @Test
  void hierarchyWithoutAContainer_isIgnored() throws IOException {
    assertThat(identity("12:rdma:/\n5:memory:/docker/" + ID + "\n0::/system.slice").containerId())
        .isEqualTo(ID);
  }

  @Test
  void executable_isItsFileName() throws IOException {
    Files.createSymbolicLink(process().resolve("exe"), Path.of("/usr/bin/python3.11"));

    assertThat(ProcessIdentity.of(new ProcessFiles(proc), 7).executable()).isEqualTo("python3.11");
  }

  @ParameterizedTest
  @CsvSource({
    "VLLM::Worker_TP1, TP1",
    "VLLM::Worker_DP0_PP1_TP3_EP3, DP0_PP1_TP3_EP3",
    "mine::Worker_TP0, TP0",
    "VLLM::Worker,",
    "VLLM::EngineCore_DP1,",
    "/usr/bin/VLLM::Worker_TP1,",
    "python3 VLLM::Worker_TP1,",
  })
  void titleOfAWorker_containsItsRank(String title, @Nullable String rank) throws IOException {
    Files.writeString(process().resolve("cmdline"), title.replace(' ', '\0') + "\0\0\0");

    assertThat(ProcessIdentity.of(new ProcessFiles(proc), 7).rank()).isEqualTo(rank);
  }

  @Test
  void rankInALongTitle_isTruncated() throws IOException {
    Files.writeString(process().resolve("cmdline"), "mine::Worker_" + "A1".repeat(50_000) + "\0");

    assertThat(ProcessIdentity.of(new ProcessFiles(proc), 7).rank()).isEqualTo("A1".repeat(8));
  }

  @Test
  void exitedProcess_isUnknown() {
    assertThat(ProcessIdentity.of(new ProcessFiles(proc), 8)).isEqualTo(ProcessIdentity.UNKNOWN);
  }

  private ProcessIdentity identity(@Nullable String cgroup) throws IOException {
    Files.writeString(process().resolve("cgroup"), cgroup + "\n");
    return ProcessIdentity.of(new ProcessFiles(proc), 7);
  }

  private Path process() throws IOException {
    return Files.createDirectories(proc.resolve("7"));
  }

  private static @Nullable String filled(@Nullable String pattern) {
    return pattern == null
        ? null
        : pattern
            .replace("UID_", UID.replace('-', '_'))
            .replace("UID", UID)
            .replace("HASH", HASH)
            .replace("OUTER", OUTER)
            .replace("ID", ID);
  }
}
