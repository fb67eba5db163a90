package io.inferspan.samples.desk.web;

import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Loads the static files of the page and the d3 modules that it uses. */
final class PageFiles {

  private static final Pattern APP_FILE = Pattern.compile("/app/[A-Za-z0-9_-]+\\.[a-z]+");
  private static final Pattern D3_FILE = Pattern.compile("/lib/(d3-[a-z]+)\\.js");
  private static final Map<String, String> D3_VERSIONS =
      Map.of(
          "d3-array", "3.2.4",
          "d3-color", "3.1.0",
          "d3-format", "3.1.0",
          "d3-hierarchy", "3.1.2",
          "d3-interpolate", "3.0.1",
          "d3-scale", "4.0.2");
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
   * @param tag the entity tag ({@code ETag}), a hash of the content
   */
  record PageFile(Buffer content, String type, String tag) {}

  /** Returns the file at a path, or null. */
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
    if (path.equals("/") || path.equals("/index.html")) {
      return "/desk/index.html";
    }
    Matcher d3 = D3_FILE.matcher(path);
    if (d3.matches()) {
      String module = d3.group(1);
      return "/META-INF/resources/webjars/%s/%s/dist/%s.min.js"
          .formatted(module, D3_VERSIONS.get(module), module);
    }
    return APP_FILE.matcher(path).matches() ? "/desk" + path : null;
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
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }
}
