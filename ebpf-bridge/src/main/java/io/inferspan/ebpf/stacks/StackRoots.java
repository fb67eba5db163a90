package io.inferspan.ebpf.stacks;

import io.inferspan.ebpf.linux.SystemView;
import java.util.List;
import java.util.Set;

/**
 * Recognises the functions in which threads begin, which distinguish complete stacks from truncated
 * ones.
 */
final class StackRoots {

  private static final Set<String> FUNCTIONS =
      Set.of(
          """
          _start __libc_start_call_main __libc_start_main __libc_start_main_impl start_thread
          clone clone3 __clone __clone3 runtime.goexit runtime.goexit.abi0 runtime.mstart
          runtime.mstart.abi0 runtime.rt0_go runtime.rt0_go.abi0 runtime.mcall
          runtime.systemstack.abi0
          """
              .split("\\s+"));

  private StackRoots() {}

  /**
   * Returns whether the first of these frames is the root of a thread. On AArch64, distributions
   * ship the C library without a symbol for its root functions, so any of its functions is
   * accepted.
   */
  static boolean isRoot(List<String> frames) {
    String root = frames.getFirst();
    boolean inLibrary = root.startsWith("libc.so.6+0x") || root.startsWith("libpthread");
    return FUNCTIONS.contains(root)
        || (inLibrary && frames.size() > 1 && SystemView.architecture().equals("aarch64"));
  }
}
