package io.inferspan.ebpf.support;

import io.inferspan.ebpf.EbpfSupport;
import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.FakeSystem;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/** The support of simulated machines. */
public final class SimulatedMachine {

  private static final int EPERM = 1;
  private static final int EINVAL = 22;
  private static final String PLATFORM = "Linux amd64";
  private static final MachineFacts.Library LIBBPF = MachineFacts.Library.present("v1.1");

  private SimulatedMachine() {}

  public static EbpfSupport whole(Path root) {
    return examine(new FakeSystem(root), LIBBPF, Map.of());
  }

  public static EbpfSupport ordinaryUser(Path root) {
    Map<KernelFeature, Integer> errors = new EnumMap<>(KernelFeature.class);
    for (KernelFeature feature : KernelFeature.values()) {
      errors.put(feature, EPERM);
    }
    return examine(new FakeSystem(root).capabilities("0000000000000000"), LIBBPF, errors);
  }

  public static EbpfSupport withoutLibbpf(Path root) {
    MachineFacts.Library absent =
        new MachineFacts.Library("", "libbpf is missing", "install libbpf 1.0 or newer");
    return examine(new FakeSystem(root), absent, Map.of());
  }

  public static EbpfSupport withoutTypes(Path root) {
    return examine(new FakeSystem(root).without("sys/kernel/btf/vmlinux"), LIBBPF, Map.of());
  }

  public static EbpfSupport olderKernel(Path root) {
    return examine(
        new FakeSystem(root).kernel("6.8.0-45-generic"),
        LIBBPF,
        Map.of(KernelFeature.UPROBE_SESSION, EINVAL));
  }

  private static EbpfSupport examine(
      FakeSystem system, MachineFacts.Library libbpf, Map<KernelFeature, Integer> errors) {
    KernelFeatures features = new KernelFeatures(errors);
    return SupportCheck.of(new MachineFacts(PLATFORM, "", libbpf, features, system.view()));
  }
}
