package io.inferspan.samples.desk;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** The command {@code explain}: prints a running desk's explanation of a request. */
final class Explain {

  static final String COMMAND = "explain";

  private static final String USAGE =
      "explain needs a trace id or a request id; --desk=ADDRESS is optional.";
  private static final String DESK = "--desk=";
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;

  private Explain() {}

  /**
   * Runs the command; returns exit status 0 if it prints an explanation, 2 for invalid arguments,
   * else 1.
   */
  static int run(List<String> arguments, PrintStream out, PrintStream err) {
    String desk = "http://127.0.0.1:" + Setting.PORT.defaultValue();
    String id = "";
    for (String argument : arguments) {
      if (argument.startsWith(DESK)) {
        desk = argument.substring(DESK.length()).replaceFirst("/$", "");
      } else if (id.isEmpty() && !argument.startsWith("--")) {
        id = argument;
      } else {
        throw new IllegalArgumentException(USAGE);
      }
    }
    if (id.isEmpty()) {
      throw new IllegalArgumentException(USAGE);
    }
    return ask(desk, id, out, err);
  }

  private static int ask(String desk, String id, PrintStream out, PrintStream err) {
    String query = "/api/explain?id=" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    try (HttpClient client = HttpClient.newBuilder().connectTimeout(TIMEOUT).build()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(desk + query)).timeout(TIMEOUT).build();
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() == OK) {
        out.print(answer.body());
        return 0;
      }
      err.println(
          answer.statusCode() == NOT_FOUND
              ? "The desk at " + desk + " has no request with the id " + id + "."
              : "The desk at " + desk + " answered with HTTP status " + answer.statusCode() + ".");
    } catch (IOException e) {
      err.println("No desk answers at " + desk + "; set its address with --desk=ADDRESS.");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return 1;
  }
}
