package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.inferspan.ebpf.libbpf.BpfObject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Attributes processes and their children to spans in the kernel. Also makes the kernel forget the
 * requests that it recognised, when the programs that recognise requests are attached or detached.
 */
public final class Adoptions {

  private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  // Offsets in struct ispan_adoption.
  private static final int TGID_AT = 8;
  private static final int TRACE_ID_AT = 16;
  private static final int SPAN_ID_AT = 32;
  private static final int BYTES = 40;

  private final BpfObject object;

  Adoptions(BpfObject object) {
    this.object = object;
  }

  /**
   * Attributes a process to a span; returns the owner number of its events, or zero if the table is
   * full.
   */
  public long adopt(int tgid, long traceIdHigh, long traceIdLow, long spanId) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment adoption = arena.allocate(BYTES, Long.BYTES);
      adoption.set(JAVA_INT, TGID_AT, tgid);
      adoption.set(BIG_ENDIAN_LONG, TRACE_ID_AT, traceIdHigh);
      adoption.set(BIG_ENDIAN_LONG, TRACE_ID_AT + 8, traceIdLow);
      adoption.set(BIG_ENDIAN_LONG, SPAN_ID_AT, spanId);
      object.program("process_adopt").run(adoption);
      return adoption.get(JAVA_LONG, 0);
    }
  }

  /** Adds a process to an existing adoption: a child that started before its parent was adopted. */
  public void join(int tgid, long owner) {
    run("process_adopt", tgid, owner);
  }

  /** Ends an adoption, so that events of its processes are no longer attributed to the span. */
  public void release(long owner) {
    run("process_release", 0, owner);
  }

  /**
   * Makes the BPF programs forget all requests and engine steps, and the state of servers and
   * engines. Adoptions continue.
   */
  void forgetRequests() {
    run("requests_forget", 0, 0);
  }

  private void run(String program, int tgid, long owner) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment adoption = arena.allocate(BYTES, Long.BYTES);
      adoption.set(JAVA_LONG, 0, owner);
      adoption.set(JAVA_INT, TGID_AT, tgid);
      object.program(program).run(adoption);
    }
  }
}
