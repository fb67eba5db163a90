package io.inferspan.samples.desk.web;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The static files of the page, and d3. */
final class PageFiles {

  private static final Pattern APP_FILE = Pattern.compile("/app/[A-Za-z0-9_-]+\\.[a-z]+");
  private static final String D3 = "/META-INF/resources/webjars/d3/7.9.0/dist/d3.min.js";
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml",
          "png", "image/png");

  private final Map<String, PageFile> read = new ConcurrentHashMap<>();

  /**
   * A file with its headers.
   *
   * @param tag changes with the file
   */
  record PageFile(Buffer content, String type, String tag) {}

  /** The file at a path, or null. */
  @Nullable PageFile at(String path) {
    PageFile known = read.get(path);
    if (known != null) {
      return known;
    }
    String resource = resource(path);
    PageFile file = resource == null ? null : load(resource);
    if (file != null) {
      read.put(path, file);
    }
    return file;
  }

  private static @Nullable String resource(String path) {
    return switch (path) {
      case "/", "/index.html" -> "/desk/index.html";
      case "/lib/d3.js" -> D3;
      default -> APP_FILE.matcher(path).matches() ? "/desk" + path : null;
    };
  }

  private static @Nullable PageFile load(String resource) {
    String type = TYPES.get(resource.substring(resource.lastIndexOf('.') + 1));
    if (type == null) {
      return null;
    }
    try (InputStream in = PageFiles.class.getResourceAsStream(resource)) {
      if (in == null) {
        return null;
      }
      byte[] bytes = in.readAllBytes();
      return new PageFile(Buffer.buffer(bytes), type, tag(bytes));
    } catch (IOException e) {
      return null;
    }
  }

  private static String tag(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return '"' + HexFormat.of().formatHex(digest, 0, 8) + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
