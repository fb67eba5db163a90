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
 * The functions of a stack, as far as each is known to be called by the next.
 *
 * <p>The kernel follows frame pointers, and leaves out the caller of a function that has none of
 * its own, or none yet. The files' tables of frames say which functions those are, and where on the
 * stack the caller is; if that is not known, the chain ends there.
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
   * Returns the addresses, the innermost first.
   *
   * @param followed what the kernel found
   * @param sampled whether the first is of the instruction that ran, and not where a call returns
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
