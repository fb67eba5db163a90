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

  private static final TraceSetter<Outgoing> TRACE =
      new TraceSetter<>(
          (outgoing, name, value) -> outgoing.changes.set(name, value),
          (outgoing, name) -> outgoing.changes.remove(name),
          (outgoing, name) -> outgoing.received.all(name));

  /** The received headers of a request and their changes. */
  private record Outgoing(HeaderList received, HeaderChanges changes) {}

  /** Returns changes that remove the client's routing headers. */
  static HeaderChanges withoutClientRouting() {
    HeaderChanges changes = new HeaderChanges();
    DisaggHeaders.ROUTING.forEach(changes::remove);
    return changes;
  }

  /**
   * Returns the routing to the result's targets, in llm-d's format: the best endpoint, followed by
   * alternatives for retries.
   */
  static Routing to(
      SchedulingResult result, Scheduler scheduler, UpstreamAttempt attempt, HeaderList received) {
    HeaderChanges changes = withoutClientRouting();
    scheduler.prepare(result, new PluginHeaders(changes));
    String authorities =
        result.targets().stream().map(Endpoint::authority).collect(Collectors.joining(","));
    changes.set(DisaggHeaders.DESTINATION, authorities);
    attempt.inject(new Outgoing(received, changes), TRACE);
    return new Routing(changes, new Destination(DisaggHeaders.DESTINATION, authorities));
  }

  /** The headers that plugins change. */
  private record PluginHeaders(HeaderChanges changes) implements PreRequest.Headers {
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
