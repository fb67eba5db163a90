package io.inferspan.ebpf.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.util.zip.GZIPOutputStream;

/** Uploads the timeline of a cold start to a trace desk, which links it from the trace. */
final class DeskTimeline {

  private static final int TIMEOUT_MILLIS = 5_000;

  private DeskTimeline() {}

  /** Uploads a page, compressed with gzip. */
  static void put(String page, URL desk, String traceId) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (OutputStream gzip = new GZIPOutputStream(body)) {
      gzip.write(page.getBytes(UTF_8));
    }
    URL url = URI.create(desk.toString()).resolve("/timelines/" + traceId).toURL();
    HttpURLConnection call = (HttpURLConnection) url.openConnection();
    call.setConnectTimeout(TIMEOUT_MILLIS);
    call.setReadTimeout(TIMEOUT_MILLIS);
    call.setRequestMethod("PUT");
    call.setRequestProperty("Content-Type", "text/html; charset=utf-8");
    call.setRequestProperty("Content-Encoding", "gzip");
    call.setDoOutput(true);
    call.setFixedLengthStreamingMode(body.size());
    try (OutputStream out = call.getOutputStream()) {
      body.writeTo(out);
    }
    int status = call.getResponseCode();
    call.disconnect();
    if (status != HttpURLConnection.HTTP_NO_CONTENT) {
      throw new IOException(url + " answered with status " + status + " instead of 204");
    }
  }
}
