package io.inferspan.pd.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.LongAdder;

/** Counts the connections to the engines of one stage; any thread may count. */
public final class ConnectionMeters {

  private final LongAdder opened = new LongAdder();
  private final LongAdder closed = new LongAdder();
  private final LongAdder idle = new LongAdder();

  /** Creates counters that are not registered. */
  public ConnectionMeters() {}

  ConnectionMeters(MeterRegistry registry, Stage stage) {
    String name = SidecarMetrics.OURS + "upstream_connections";
    Gauge.builder(name + "_open", this, meters -> meters.openCount())
        .description("Connections to engines")
        .tag("stage", stage.label())
        .register(registry);
    Gauge.builder(name + "_idle", idle, LongAdder::sum)
        .description("Connections to engines that wait for a request")
        .tag("stage", stage.label())
        .register(registry);
    FunctionCounter.builder(SidecarMetrics.OURS + "upstream_connects", opened, LongAdder::sum)
        .description("Connections made to engines")
        .tag("stage", stage.label())
        .register(registry);
  }

  public void opened() {
    opened.increment();
  }

  public void closed() {
    closed.increment();
  }

  /** Changes the number of idle connections; {@code change} may be negative. */
  public void idle(int change) {
    idle.add(change);
  }

  private double openCount() {
    return Math.max(0, opened.sum() - closed.sum());
  }
}
