package io.inferspan.ebpf.stacks;

import io.inferspan.ebpf.elf.CallFrame;
import io.inferspan.ebpf.elf.CallFrame.Rule;
import io.inferspan.ebpf.elf.Instruction;
import io.inferspan.ebpf.stacks.StackTable.Innermost;
import io.inferspan.ebpf.stacks.StackTable.Stack;
import io.inferspan.ebpf.symbols.Symbols;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes the call chain of a stack, up to the last function whose caller is certain.
 *
 * <p>The kernel follows frame pointers, and misses the caller of a function that has no frame
 * pointer or has not set it up yet. The unwind tables of the files identify such functions, and
 * show where on the stack their return addresses are. Where they do not, the chain ends.
 */
final class CallChain {

  private final Symbols symbols;
  private final Stack stack;
  private final List<Long> addresses = new ArrayList<>();

  private CallChain(Symbols symbols, Stack stack) {
    this.symbols = symbols;
    this.stack = stack;
  }

  /**
   * Returns the addresses of the chain, the innermost first.
   *
   * @param followed the addresses that the kernel found
   * @param sampled whether the first address is an interrupted instruction rather than a return
   *     address
   */
  static List<Long> of(Symbols symbols, Stack stack, long[] followed, boolean sampled) {
    CallChain chain = new CallChain(symbols, stack);
    if (followed.length > 0) {
      Innermost code = stack.innermost();
      CallFrame frame =
          chain.add(
              followed[0],
              sampled
                  ? Instruction.next(followed[0], code.before(), code.next())
                  : Instruction.call(followed[0]));
      chain.follow(frame, followed);
    }
    return chain.addresses;
  }

  private CallFrame add(long address, Instruction instruction) {
    addresses.add(address);
    return symbols.frame(stack.image(), instruction);
  }

  private void follow(CallFrame innermost, long[] followed) {
    CallFrame frame = innermost;
    int offset = 0;
    while (frame.rule() == Rule.STACK_POINTER) {
      offset += frame.offset();
      long caller = stack.innermost().caller(offset - Long.BYTES);
      if (caller == 0) {
        return;
      }
      frame = add(caller, Instruction.call(caller));
    }
    for (int i = 1; i < followed.length && frame.rule() == Rule.FRAME_POINTER; i++) {
      frame = add(followed[i], Instruction.call(followed[i]));
    }
  }
}
