package io.inferspan.ebpf.support;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.Libbpf;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.SystemView;
import java.util.Map;

/**
 * The facts about a machine and a process on which {@link SupportCheck} is based.
 *
 * @param platform operating system and architecture, by Java's names
 * @param nativeAccess what prevents native calls; empty if nothing does
 * @param libbpf the libbpf found
 * @param features the results of kernel feature probes
 * @param system the machine's files
 */
public record MachineFacts(
    String platform,
    String nativeAccess,
    Library libbpf,
    KernelFeatures features,
    SystemView system) {

  /** The version of libbpf, or why it is absent, and the remedy. */
  public record Library(String version, String absence, String remedy) {

    static Library present(String version) {
      return new Library(version, "", "");
    }
  }

  private static final Library NOT_CHECKED = new Library("", "not checked", "");
  private static final KernelFeatures NOT_PROBED = new KernelFeatures(Map.of());

  /** Returns the facts of this machine and this process. */
  public static MachineFacts ofThisProcess() {
    String platform = System.getProperty("os.name") + " " + SystemView.architecture();
    SystemView system = SystemView.live();
    if (!SupportCheck.isSupported(platform)) {
      return new MachineFacts(platform, "", NOT_CHECKED, NOT_PROBED, system);
    }
    try {
      Library library = library();
      return new MachineFacts(platform, "", library, KernelFeatures.probe(), system);
    } catch (IllegalCallerException denied) {
      return new MachineFacts(
          platform, String.valueOf(denied.getMessage()), NOT_CHECKED, NOT_PROBED, system);
    }
  }

  private static Library library() {
    try {
      return Library.present(Libbpf.load().version());
    } catch (BpfException absent) {
      return new Library("", absent.reason(), absent.remedy());
    }
  }
}
