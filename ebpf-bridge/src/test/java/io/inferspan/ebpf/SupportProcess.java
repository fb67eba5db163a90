package io.inferspan.ebpf;

import io.inferspan.ebpf.linux.SeccompFilter;
import java.util.List;

/** Prints whether the bridge is supported in a process that may lack a prerequisite. */
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
    System.out.println("the application continues");
  }
}
