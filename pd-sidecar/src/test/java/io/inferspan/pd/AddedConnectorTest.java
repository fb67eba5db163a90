package io.inferspan.pd;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that adding one service class is enough to add a connector. */
@SuppressWarnings("StringConcatToTextBlock") // lines end in CR LF
final class AddedConnectorTest extends WireTest {
  private static final String SOURCE =
      """
      package added;

      import io.inferspan.pd.connector.Connector;
      import io.inferspan.pd.request.DecodeLeg;
      import io.inferspan.pd.request.PdRequest;
      import io.inferspan.pd.request.PrefillLeg;
      import java.util.List;
      import java.util.Map;

      public final class Added implements Connector {
        @Override public About about() {
          return new About("added", "prefill, then decode", "`added_handle`");
        }

        @Override public List<String> formerly() { return List.of("appended"); }

        @Override public void serve(PdRequest request) {
          request.ask(
              PrefillLeg.before(request.body().edit().set("added_handle", 1).pieces(), Map.of()),
              _ ->
                  request.stream(
                      DecodeLeg.of(request.body().edit().set("added_handle", 2).pieces())));
        }
      }
      """;

  @TempDir private Path classes;

  @BeforeEach
  void compile() throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    JavaCompiler.CompilationTask task =
        compiler.getTask(
            null,
            null,
            null,
            List.of(
                "-proc:none",
                "-d",
                classes.toString(),
                "-cp",
                System.getProperty("java.class.path")),
            null,
            List.of(
                new SimpleJavaFileObject(
                    URI.create("string:///added/Added.java"), JavaFileObject.Kind.SOURCE) {
                  @Override
                  public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                    return SOURCE;
                  }
                }));
    assertThat(task.call()).isTrue();
    Path services = Files.createDirectories(classes.resolve("META-INF/services"));
    Files.writeString(services.resolve(KvConnector.class.getName()), "added.Added");
  }

  private Program program(String... args) throws IOException {
    String classPath = classes + File.pathSeparator + System.getProperty("java.class.path");
    return closing(Program.start(classPath, Map.of(), List.of("-Xmx128m"), args));
  }

  @Test
  void name_isInTheHelp_andOldNameIsNoted() throws Exception {
    Program help = program("--help");
    assertThat(help.status()).isZero();
    assertThat(String.join(" ", help.out()))
        .containsPattern("KV connectors: .* added +prefill, then decode; transfers `added_handle`");

    Program wrong = program("--kv-connector=none");
    assertThat(wrong.status()).isEqualTo(2);
    assertThat(wrong.err().toString()).contains("added").doesNotContain("appended");

    Program old =
        program("--kv-connector=appended", "--secure-proxy=false", "--port=" + FreePort.next());
    old.ready();
    assertThat(old.err().toString()).contains("use --kv-connector=added");
  }

  @Test
  void connector_servesRequests_andIsCounted() throws Exception {
    BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    RawServer engine =
        engine(
            (wire, _) -> {
              while (true) {
                asked.add(wire.message().body());
                wire.send(ok("{}"));
              }
            });
    int port = FreePort.next();
    int metrics = FreePort.next();
    program(
            "--kv-connector=added",
            "--secure-proxy=false",
            "--port=" + port,
            "--metrics-port=" + metrics,
            "--model-server-port=" + engine.port())
        .ready();

    String body = "{\"a\":[],\"added_handle\":0}";
    Wire client =
        closing(Wire.to(port))
            .send(
                "POST /v1/completions HTTP/1.1\r\nhost: a\r\nx-prefiller-host-port: "
                    + engine.authority()
                    + "\r\ncontent-length: "
                    + body.length()
                    + "\r\n\r\n"
                    + body);

    assertThat(client.message().body()).isEqualTo("{}");
    assertThat(asked)
        .containsExactly("{\"a\":[],\"added_handle\":1}", "{\"a\":[],\"added_handle\":2}");
    Wire scrape = closing(Wire.to(metrics)).send("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n");
    assertThat(scrape.message().body())
        .contains("llm_d_disagg_sidecar_disagg_requests_total{disagg_type=\"added\"} 1.0");
  }
}
