package io.inferspan.ebpf.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * OpenTelemetry accepts the wrapper only before the first use of its context, so each case has a
 * process of its own.
 */
class InstallTest {

  @Test
  void installedFirst_publishesTheCurrentSpan() throws Exception {
    assertThat(run("first")).isEqualTo("installed=true published=true again=true\n");
  }

  @Test
  void installedAfterTheFirstUse_returnsFalse() throws Exception {
    assertThat(run("late")).isEqualTo("installed=false published=false again=false\n");
  }

  private static String run(String order) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName(),
                order)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return out;
    } finally {
      process.destroyForcibly();
    }
  }

  /** The program that the child runs. */
  public static final class Program {

    private Program() {}

    /** Installs before or after the first use of a context. */
    public static void main(String[] arguments) {
      if (arguments[0].equals("late")) {
        Context.current();
      }
      boolean installed = PublishingContextStorage.install();
      FakeThreadMap table = new FakeThreadMap(4);
      OwnThreads threads =
          new OwnThreads(table.memory, table, () -> 1, null, TestContexts.silent());
      PublishingContextStorage.start(threads);
      SpanContext span =
          SpanContext.create(
              "0af7651916cd43dd8448eb211c80319c",
              "00f067aa0ba902b7",
              TraceFlags.getSampled(),
              TraceState.getDefault());
      boolean published;
      try (Scope scope = Context.root().with(Span.wrap(span)).makeCurrent()) {
        published = table.contextOf(1) != null;
      }
      System.out.printf(
          "installed=%s published=%s again=%s%n",
          installed, published, PublishingContextStorage.install());
    }
  }
}
