// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** {@code JdkServer platform|virtual}: the JDK's HTTP server with a thread pool, or with a virtual thread per request. */
final class JdkServer {

  private static final String MARKS = System.getenv("MARKS");

  private record Work(String mark, int opens, int chunk, int chunks, int pad, int delay, String mode) {
    static Work of(String path) {
      String[] parts = path.split("/");
      return new Work(
          parts[2], Integer.parseInt(parts[3]), Integer.parseInt(parts[4]), Integer.parseInt(parts[5]),
          Integer.parseInt(parts[6]), Integer.parseInt(parts[7]), parts[8]);
    }
  }

  private static void mark(Work work, int number) {
    try (FileInputStream ignored = new FileInputStream(MARKS + "/" + work.mark + "." + number)) {
      throw new IllegalStateException("this file should not exist");
    } catch (IOException missing) {
      // Only the attempt matters.
    }
  }

  private static void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getRequestBody().readAllBytes();
      Work work = Work.of(exchange.getRequestURI().getPath());
      for (int number = 0; number < work.opens; number++) {
        mark(work, number);
      }
      if (work.mode.equals("boom")) {
        throw new IllegalStateException("the request asks for a failure");
      }
      exchange.getResponseHeaders().set("X-Pad", "p".repeat(work.pad));
      exchange.sendResponseHeaders(200, (long) work.chunk * work.chunks);
      stream(work, exchange.getResponseBody());
    }
  }

  private static void stream(Work work, OutputStream body) throws IOException {
    for (int number = 0; number < work.chunks; number++) {
      if (number > 0) {
        pause(work.delay);
        mark(work, work.opens + number - 1);
      }
      body.write("c".repeat(work.chunk).getBytes());
      body.flush();
    }
  }

  private static void pause(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  public static void main(String[] arguments) throws IOException {
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
    server.setExecutor(
        arguments[0].equals("virtual")
            ? Executors.newVirtualThreadPerTaskExecutor()
            : Executors.newFixedThreadPool(8));
    server.createContext("/w/", JdkServer::answer);
    server.start();
    System.out.println(server.getAddress().getPort());
  }
}
