package io.inferspan.ebpf;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.Libbpf;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.SystemView;
import java.util.Map;

/**
 * What an examination goes by.
 *
 * @param platform operating system and architecture, by Java's names
 * @param nativeAccess what stands in the way of calling native code; empty if nothing does
 * @param libbpf whether libbpf is there
 * @param features what was tried on the kernel
 * @param system the machine's files
 */
record Evidence(
    String platform,
    String nativeAccess,
    Library libbpf,
    KernelFeatures features,
    SystemView system) {

  /** libbpf's version, or why there is none and what to do. */
  record Library(String version, String absence, String remedy) {

    static Library present(String version) {
      return new Library(version, "", "");
    }
  }

  private static final Library NOT_ASKED = new Library("", "not looked for", "");
  private static final KernelFeatures NOT_TRIED = new KernelFeatures(Map.of());

  static Evidence ofThisProcess() {
    String platform = System.getProperty("os.name") + " " + SystemView.architecture();
    SystemView system = SystemView.live();
    if (!Examination.isSupported(platform)) {
      return new Evidence(platform, "", NOT_ASKED, NOT_TRIED, system);
    }
    try {
      Library library = library();
      return new Evidence(platform, "", library, KernelFeatures.probe(), system);
    } catch (IllegalCallerException denied) {
      return new Evidence(
          platform, String.valueOf(denied.getMessage()), NOT_ASKED, NOT_TRIED, system);
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
