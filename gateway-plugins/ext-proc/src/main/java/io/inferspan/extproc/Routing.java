package io.inferspan.extproc;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.PreRequest;
import io.inferspan.epp.SchedulingResult;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.inferspan.epp.scheduling.Scheduler;
import io.inferspan.extproc.wire.HeaderChanges;
import io.inferspan.extproc.wire.HeaderList;
import io.inferspan.extproc.wire.ProcessingResponse.Destination;
import io.inferspan.gateway.TraceSetter;
import io.inferspan.gateway.UpstreamAttempt;
import java.util.stream.Collectors;

/** The destination of a request, as headers and as metadata for Envoy's load balancer. */
record Routing(HeaderChanges changes, Destination destination) {

  private static final TraceSetter<Leaving> TRACE =
      new TraceSetter<>(
          (leaving, name, value) -> leaving.changes.set(name, value),
          (leaving, name) -> leaving.changes.remove(name),
          (leaving, name) -> leaving.came.all(name));

  /** The original headers of a request and their changes. */
  private record Leaving(HeaderList came, HeaderChanges changes) {}

  /** Returns changes that remove the routing headers of the client. */
  static HeaderChanges withoutClients() {
    HeaderChanges changes = new HeaderChanges();
    DisaggHeaders.ROUTING.forEach(changes::remove);
    return changes;
  }

  /**
   * Returns the routing to the result's targets, in llm-d's format: the best endpoint, followed by
   * alternatives for retries.
   */
  static Routing to(
      SchedulingResult result, Scheduler scheduler, UpstreamAttempt attempt, HeaderList came) {
    HeaderChanges changes = withoutClients();
    scheduler.prepare(result, new Prepared(changes));
    String authorities =
        result.targets().stream().map(Endpoint::authority).collect(Collectors.joining(","));
    changes.set(DisaggHeaders.DESTINATION, authorities);
    attempt.inject(new Leaving(came, changes), TRACE);
    return new Routing(changes, new Destination(DisaggHeaders.DESTINATION, authorities));
  }

  /** The headers that plugins change. */
  private record Prepared(HeaderChanges changes) implements PreRequest.Headers {
    @Override
    public void set(String name, String value) {
      changes.set(name, value);
    }

    @Override
    public void remove(String name) {
      changes.remove(name);
    }
  }
}
