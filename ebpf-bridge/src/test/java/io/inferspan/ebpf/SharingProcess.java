package io.inferspan.ebpf;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.ebpf.linux.Threads;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A program whose bridge publishes its threads' contexts; controlled by lines on stdin. */
final class SharingProcess {

  private static final BufferedReader ORDERS =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private SharingProcess() {}

  public static void main(String[] arguments) throws Exception {
    Telemetry telemetry = Telemetry.initTracing();
    OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    try (Scope scope = span.context().makeCurrent()) {
      say("in", span);
    }
    say("out", span);
    Thread forgetful = Thread.ofPlatform().start(() -> leaveOpen(span));
    forgetful.join();
    say("ended", span);
    span.close();
    telemetry.close();
    System.out.println("closed");
    System.exit(0);
  }

  @SuppressWarnings("MustBeClosedChecker") // leaks the scope on purpose
  private static void leaveOpen(OperationSpan span) {
    try {
      Objects.requireNonNull(span.context().makeCurrent());
      say("open", span);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void say(String word, OperationSpan span) throws IOException {
    SpanContext ids = Span.fromContext(span.context()).getSpanContext();
    System.out.println(
        word + " " + Threads.currentTid() + " " + ids.getTraceId() + ids.getSpanId());
    ORDERS.readLine();
  }
}
