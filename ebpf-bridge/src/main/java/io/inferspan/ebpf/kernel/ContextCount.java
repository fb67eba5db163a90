package io.inferspan.ebpf.kernel;

import java.util.Locale;

/**
 * Counters of recognised requests, and of the reasons why requests were not recognised; numbered as
 * in {@code wire.h}.
 *
 * <p>A head is the first line and the headers of an HTTP request.
 */
public enum ContextCount {
  /** Request heads, with or without a traceparent. */
  HTTP_HEADS(600),
  /** Heads with a valid traceparent. */
  HTTP_FOUND(601),
  /** Heads with a sampled traceparent. */
  HTTP_SAMPLED(602),
  /** Heads whose traceparent is invalid or repeated, and is therefore ignored. */
  HTTP_MALFORMED(603),
  /** Heads that were longer than the limit, or spread over too many buffers. */
  HTTP_TOO_LONG(606),
  /**
   * Requests that were not traced, because another response was pending on the connection, or
   * another request was in the same read.
   */
  HTTP_PIPELINED(607),
  /** Requests whose bytes were not in memory when they were read. */
  HTTP_UNREADABLE(608),
  /** Sampled requests beyond the limit per process and second. */
  HTTP_LIMITED(609),
  /** Heads whose x-request-id was left out, because it was too long, invalid or repeated. */
  REQUEST_ID_LEFT_OUT(610),
  /** Sampled requests that began; each lasts until its response has ended. */
  REQUESTS_BEGAN(620),
  /** Sampled requests that ended. */
  REQUESTS_ENDED(621),
  /** Threads and processes started by a request's thread. */
  REQUESTS_INHERITED(622),
  /** Requests read by a thread while it had another request open. */
  THREADS_INTERLEAVED(623),
  /** Requests that an application marked with a malformed traceparent. */
  CKP_MALFORMED(624),
  /** Operations of a thread that served several requests, or an unknown one. */
  UNATTRIBUTED(625),
  /** Writes of responses by another thread than the one that read the request. */
  ANSWERED_ELSEWHERE(626),
  /** Requests whose thread also received other work. */
  THREADS_MIXED(627),
  /** Messages of an engine that could not be decoded completely. */
  FRAMES_UNREADABLE(630);

  private final int index;

  ContextCount(int index) {
    this.index = index;
  }

  /** Returns its index in the map of counters. */
  public int index() {
    return index;
  }

  /** Returns its name in a bridge's status. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
