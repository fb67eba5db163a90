package io.inferspan.ebpf.stacks;

import io.inferspan.ebpf.linux.SystemView;
import java.util.List;
import java.util.Set;

/** Where a whole stack begins. */
final class StackRoots {

  private static final Set<String> FUNCTIONS =
      Set.of(
          "_start",
          "__libc_start_call_main",
          "__libc_start_main",
          "__libc_start_main_impl",
          "start_thread",
          "clone",
          "clone3",
          "__clone",
          "__clone3",
          "runtime.goexit",
          "runtime.goexit.abi0",
          "runtime.mstart",
          "runtime.mstart.abi0",
          "runtime.rt0_go",
          "runtime.rt0_go.abi0",
          "runtime.mcall",
          "runtime.systemstack.abi0");

  private StackRoots() {}

  /**
   * Whether frames, from the root on, begin where a thread does. On AArch64, what the C library
   * calls is taken to be called by such a function, which has no symbol as distributions ship it.
   */
  static boolean isRoot(List<String> frames) {
    String root = frames.getFirst();
    boolean inLibrary = root.startsWith("libc.so.6+0x") || root.startsWith("libpthread");
    return FUNCTIONS.contains(root)
        || (inLibrary && frames.size() > 1 && SystemView.architecture().equals("aarch64"));
  }
}
