package io.inferspan.ebpf.batch;

import org.jspecify.annotations.Nullable;

/** A slot of an engine's process: the request that it stands for, and what the next step does. */
final class Member {

  /** Null as long as its identity is unknown or ambiguous. */
  @Nullable BatchRequest request;

  /** Scheduled in a step; 0 while it is in none. */
  int tokens;

  boolean prefill;

  /** Computed so far. */
  long context;
}
