package io.inferspan.epp.plugins.disagg;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.SchedulingResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The stages of a request and the default names of their profiles. */
final class Stages {

  static final String DECODE = "decode";
  static final String PREFILL = "prefill";
  static final String ENCODE = "encode";

  private Stages() {}

  /** Returns the result of the stages; without a decode endpoint it is a failure. */
  static SchedulingResult result(Cycle cycle, @Nullable List<Endpoint> decoders) {
    return decoders == null || decoders.isEmpty()
        ? SchedulingResult.failed(cycle, "failed to find available decode workers")
        : SchedulingResult.to(cycle, decoders);
  }
}
