package io.inferspan.ebpf.spans;

import org.jspecify.annotations.Nullable;

/** A linked list of requests in the order of insertion. A request is in at most one list. */
final class RequestList {

  private @Nullable OpenRequest first;
  private @Nullable OpenRequest last;

  @Nullable OpenRequest first() {
    return first;
  }

  void append(OpenRequest request) {
    OpenRequest before = last;
    request.earlier = before;
    request.later = null;
    request.list = this;
    if (before == null) {
      first = request;
    } else {
      before.later = request;
    }
    last = request;
  }

  /** Moves a request to the end of this list, from any list. */
  @SuppressWarnings(
      "ReferenceEquality") // Identity is intended: whether the request is in this list object.
  void take(OpenRequest request) {
    RequestList list = request.list;
    if (list == this && request.later == null) {
      return;
    }
    if (list != null) {
      list.remove(request);
    }
    append(request);
  }

  void remove(OpenRequest request) {
    request.list = null;
    OpenRequest before = request.earlier;
    OpenRequest after = request.later;
    if (before == null) {
      first = after;
    } else {
      before.later = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.earlier = before;
    }
    request.earlier = null;
    request.later = null;
  }
}
