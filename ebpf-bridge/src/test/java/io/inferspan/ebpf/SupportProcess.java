package io.inferspan.ebpf;

import io.inferspan.ebpf.linux.SeccompFilter;
import java.util.List;

/** Says whether kernel events can be seen, from a process that may be short of something. */
final class SupportProcess {

  private SupportProcess() {}

  public static void main(String[] arguments) {
    if (List.of(arguments).contains("seccomp")) {
      SeccompFilter.refuseBpf();
    }
    EbpfSupport support = EbpfSupport.check();
    support.prerequisites().forEach(System.out::println);
    System.out.println(
        support instanceof EbpfSupport.Unavailable none
            ? "support=" + none.reason() + " | " + none.remedy()
            : "support=available");
    System.out.println("and the application runs on");
  }
}
