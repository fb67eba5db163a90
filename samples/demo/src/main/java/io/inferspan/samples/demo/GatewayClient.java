package io.inferspan.samples.demo;

import io.inferspan.samples.demo.Scenario.DemoRequest;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/** A client that sends chat requests and reads the stream, or disconnects. */
final class GatewayClient {

  private static final int CONNECT_TIMEOUT_MILLIS = 2_000;
  private static final int READ_TIMEOUT_MILLIS = 20_000;

  /**
   * With only one round of warm-up, class loading still takes half of the first trace's time to
   * first token.
   */
  static final int WARM_UP_ROUNDS = 2;

  /** A {@code traceparent} whose sampled flag is not set. */
  private static final String UNSAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

  private final URI completions;

  GatewayClient(String gateway) {
    completions = URI.create(gateway + "/v1/chat/completions");
  }

  /**
   * Sends a request and reads the response.
   *
   * @return the HTTP status
   */
  int send(DemoRequest request) throws IOException {
    return send(request, null);
  }

  /**
   * Sends unsampled requests to all pods in each round, because the first requests of a JVM are
   * slow.
   *
   * @throws IOException if a request fails
   */
  void warmUp(int rounds) throws IOException, InterruptedException {
    for (int round = 0; round < rounds; round++) {
      List<DemoRequest> requests = new ArrayList<>();
      for (int pod = 1; pod <= Ports.PODS; pod++) {
        int number = round * Ports.PODS + pod;
        requests.add(Scenario.forLoad("warm-up-" + number, -4L * number));
      }
      sendAtOnce(requests, UNSAMPLED);
    }
  }

  /**
   * Sends all requests concurrently.
   *
   * @throws IOException if a request fails
   */
  void sendAtOnce(List<DemoRequest> requests) throws IOException, InterruptedException {
    sendAtOnce(requests, null);
  }

  private void sendAtOnce(List<DemoRequest> requests, @Nullable String traceparent)
      throws IOException, InterruptedException {
    List<FutureTask<Integer>> sending = new ArrayList<>();
    for (DemoRequest request : requests) {
      FutureTask<Integer> each = new FutureTask<>(() -> send(request, traceparent));
      sending.add(each);
      Thread.startVirtualThread(each);
    }
    for (FutureTask<Integer> each : sending) {
      int status = status(each);
      if (status != HttpURLConnection.HTTP_OK) {
        throw new IOException("the gateway answered a request with status " + status);
      }
    }
  }

  private static int status(FutureTask<Integer> sent) throws IOException, InterruptedException {
    try {
      return sent.get();
    } catch (ExecutionException e) {
      throw new IOException("the gateway did not answer a request", e.getCause());
    }
  }

  private int send(DemoRequest request, @Nullable String traceparent) throws IOException {
    HttpURLConnection call = (HttpURLConnection) completions.toURL().openConnection();
    call.setConnectTimeout(CONNECT_TIMEOUT_MILLIS);
    call.setReadTimeout(READ_TIMEOUT_MILLIS);
    call.setRequestMethod("POST");
    call.setRequestProperty("content-type", "application/json");
    call.setRequestProperty("x-request-id", request.id());
    call.setRequestProperty(Behaviour.HEADER, request.behaviour().value());
    if (traceparent != null) {
      call.setRequestProperty("traceparent", traceparent);
    }
    byte[] body = request.body().getBytes(StandardCharsets.UTF_8);
    call.setDoOutput(true);
    call.setFixedLengthStreamingMode(body.length);
    try (OutputStream out = call.getOutputStream()) {
      out.write(body);
    }
    int status = call.getResponseCode();
    if (!read(status < 400 ? call.getInputStream() : call.getErrorStream(), request.events())) {
      call.disconnect();
    }
    return status;
  }

  /** Reads up to {@code events} events; returns whether the stream ended before that number. */
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
