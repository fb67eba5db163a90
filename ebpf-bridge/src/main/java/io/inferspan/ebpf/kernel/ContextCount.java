package io.inferspan.ebpf.kernel;

import java.util.Locale;

/** How the kernel side came to know of requests, and where it did not; as in {@code wire.h}. */
public enum ContextCount {
  /** Heads of requests, with or without a traceparent. */
  HTTP_HEADS(600),
  /** With a valid traceparent. */
  HTTP_FOUND(601),
  /** And that sampled. */
  HTTP_SAMPLED(602),
  /** With a traceparent that is none. */
  HTTP_MALFORMED(603),
  /** Whose head was longer than is looked at. */
  HTTP_TOO_LONG(606),
  /** That came together with the next one; no context is given. */
  HTTP_PIPELINED(607),
  /** Whose bytes were not in memory when they were to be looked at. */
  HTTP_UNREADABLE(608),
  /** That were given to a thread. */
  REQUESTS_BEGAN(620),
  /** That are over. */
  REQUESTS_ENDED(621),
  /** Threads and processes that a request's thread started. */
  REQUESTS_INHERITED(622),
  /** Threads that serve several connections at once; no context is given any more. */
  THREADS_INTERLEAVED(623),
  /** Requests told of by the program itself whose traceparent is none. */
  CKP_MALFORMED(624);

  private final int index;

  ContextCount(int index) {
    this.index = index;
  }

  int index() {
    return index;
  }

  /** Its name in a status. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
