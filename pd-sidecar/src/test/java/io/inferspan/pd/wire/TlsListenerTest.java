package io.inferspan.pd.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.pd.rig.RawServer;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.pd.rig.WireTest;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests listeners with TLS: HTTP/1.1, HTTP/2, and reloaded certificates. */
final class TlsListenerTest extends WireTest {
  private static final String GET = "GET /x HTTP/1.1\r\nhost: a\r\n\r\n";

  private static SSLSocket connect(SidecarRig sidecar) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            sidecar
                .client()
                .sslContext()
                .getSocketFactory()
                .createSocket("127.0.0.1", sidecar.port());
    socket.startHandshake();
    return socket;
  }

  private static String algorithm(SidecarRig sidecar) {
    try (SSLSocket socket = connect(sidecar)) {
      X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return shown.getPublicKey().getAlgorithm();
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Test
  void replacedCertificate_isServedToNewConnections(@TempDir Path folder) throws Exception {
    certificate(folder, "ec");
    RawServer engine = engineAnswering(ok("hi"));
    SidecarRig sidecar = before(engine.port(), "--secure-proxy=true", "--cert-path=" + folder);
    Wire old = closing(new Wire(connect(sidecar)));
    assertThat(algorithm(sidecar)).isEqualTo("EC");

    certificate(folder, "rsa");

    Awaited.within(Duration.ofSeconds(8), "reloaded", () -> algorithm(sidecar).equals("RSA"));
    assertThat(old.send(GET).message().body()).isEqualTo("hi");
  }

  @Test
  void bothProtocols_areNegotiated() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    SidecarRig sidecar = before(engine.port(), listening(true));
    for (HttpClient.Version version :
        List.of(HttpClient.Version.HTTP_1_1, HttpClient.Version.HTTP_2)) {
      HttpResponse<String> answer = sidecar.send(sidecar.request("/x").version(version).GET());
      assertThat(answer.body()).isEqualTo("hi");
      assertThat(answer.version()).isEqualTo(version);
    }
  }

  @Test
  void pipeliningAndHalfClose_workOverTls() throws Exception {
    RawServer engine = engineAnswering(ok("hi"));
    Wire client = closing(new Wire(connect(before(engine.port(), listening(true)))));
    client.send(GET.repeat(50));
    for (int i = 0; i < 50; i++) {
      assertThat(client.message().body()).isEqualTo("hi");
    }
    client.send("garbage\r\n\r\n");
    assertThat(client.message().status()).isEqualTo(400);
    assertThat(client.endsWithin(3000)).isTrue();
  }

  @Test
  void plainTextOnATlsPort_isClosed() throws Exception {
    SidecarRig sidecar = before(engineAnswering(ok("hi")).port(), "--secure-proxy=true");

    assertThat(to(sidecar).send(GET).endsWithin(3000)).isTrue();
  }
}
