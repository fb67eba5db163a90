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

/** OpenTelemetry takes the wrapper only before its first use, so each case is a process. */
class InstallTest {

  @Test
  void installedFirst_followsEveryMakeCurrent() throws Exception {
    assertThat(run("first")).isEqualTo("installed=true told=true again=true\n");
  }

  @Test
  void installedAfterTheFirstUse_saysSo() throws Exception {
    assertThat(run("late")).isEqualTo("installed=false told=false again=false\n");
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
      FakeTable table = new FakeTable(4);
      OwnThreads threads = new OwnThreads(table.memory, table, () -> 1, null, Served.silent());
      PublishingContextStorage.start(threads);
      SpanContext span =
          SpanContext.create(
              "0af7651916cd43dd8448eb211c80319c",
              "00f067aa0ba902b7",
              TraceFlags.getSampled(),
              TraceState.getDefault());
      boolean told;
      try (Scope scope = Context.root().with(Span.wrap(span)).makeCurrent()) {
        told = table.contextOf(1) != null;
      }
      System.out.printf(
          "installed=%s told=%s again=%s%n", installed, told, PublishingContextStorage.install());
    }
  }
}
