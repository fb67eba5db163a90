package io.inferspan.samples.demo;

import io.inferspan.samples.demo.Scene.Question;
import io.inferspan.samples.demo.engine.Behaviour;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client that asks for completions and reads them as they come, or hangs up. */
final class GatewayClient {

  private static final int CONNECT_MILLIS = 2_000;
  private static final int SILENCE_MILLIS = 20_000;

  /** A trace that its caller has decided not to keep. */
  private static final String UNSAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

  private final URI completions;

  GatewayClient(String gateway) {
    completions = URI.create(gateway + "/v1/chat/completions");
  }

  /**
   * Asks, and reads the answer.
   *
   * @return its status
   */
  int ask(Question question) throws IOException {
    return ask(question, null);
  }

  /**
   * Asks all pods something at once, without a trace: a JVM's first request is like no other, and
   * the first trace is to be of a request.
   */
  void warmUp() throws InterruptedException {
    List<Thread> asking = new ArrayList<>();
    for (int number = 1; number <= Ports.PODS; number++) {
      Question question = Scene.ofLoad("warm-up-" + number, -4L * number);
      asking.add(Thread.startVirtualThread(() -> warmUp(question)));
    }
    for (Thread each : asking) {
      each.join();
    }
  }

  private void warmUp(Question question) {
    try {
      int _ = ask(question, UNSAMPLED);
    } catch (IOException e) {
      // The first request that counts meets the same, and says so.
    }
  }

  private int ask(Question question, @Nullable String traceparent) throws IOException {
    HttpURLConnection call = (HttpURLConnection) completions.toURL().openConnection();
    call.setConnectTimeout(CONNECT_MILLIS);
    call.setReadTimeout(SILENCE_MILLIS);
    call.setRequestMethod("POST");
    call.setRequestProperty("content-type", "application/json");
    call.setRequestProperty("x-request-id", question.id());
    call.setRequestProperty(Behaviour.HEADER, question.behaviour().value());
    if (traceparent != null) {
      call.setRequestProperty("traceparent", traceparent);
    }
    byte[] body = question.body().getBytes(StandardCharsets.UTF_8);
    call.setDoOutput(true);
    call.setFixedLengthStreamingMode(body.length);
    try (OutputStream out = call.getOutputStream()) {
      out.write(body);
    }
    int status = call.getResponseCode();
    if (!read(status < 400 ? call.getInputStream() : call.getErrorStream(), question.events())) {
      call.disconnect();
    }
    return status;
  }

  /** Whether it came to the end before so many events. */
  private static boolean read(InputStream answer, int events) throws IOException {
    if (answer == null) {
      return true;
    }
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(answer, StandardCharsets.UTF_8));
    int seen = 0;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("data:") && ++seen >= events) {
        return false;
      }
    }
    lines.close();
    return true;
  }
}
