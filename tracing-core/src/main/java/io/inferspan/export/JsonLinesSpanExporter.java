package io.inferspan.export;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * Writes OTLP/JSON, a batch a line, to a file or to standard output.
 *
 * <p>A file that has reached its bound is renamed to {@code <name>.1}, in place of the one renamed
 * before, so that it never takes more than twice the bound.
 */
final class JsonLinesSpanExporter implements SpanExporter {

  private final @Nullable Path file;
  private final long maxBytes;
  private @Nullable OutputStream out;
  private long written;

  private JsonLinesSpanExporter(@Nullable Path file, @Nullable OutputStream out, long maxBytes) {
    this.file = file;
    this.out = out;
    this.maxBytes = maxBytes;
  }

  static JsonLinesSpanExporter to(Path file, long maxBytes) {
    return new JsonLinesSpanExporter(file, null, maxBytes);
  }

  static JsonLinesSpanExporter to(PrintStream console) {
    return new JsonLinesSpanExporter(null, console, Long.MAX_VALUE);
  }

  @Override
  public synchronized CompletableResultCode export(Collection<SpanData> spans) {
    byte[] line = (OtlpJson.encode(spans) + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      OutputStream target = opened(line.length);
      target.write(line);
      target.flush();
      written += line.length;
      return CompletableResultCode.ofSuccess();
    } catch (IOException e) {
      return CompletableResultCode.ofExceptionalFailure(e);
    }
  }

  private OutputStream opened(int next) throws IOException {
    if (file == null) {
      return out == null ? OutputStream.nullOutputStream() : out;
    }
    OutputStream open = out == null ? open(file) : out;
    if (written > 0 && written + next > maxBytes) {
      open.close();
      Path older = file.resolveSibling(file.getFileName() + ".1");
      Files.move(file, older, StandardCopyOption.REPLACE_EXISTING);
      open = open(file);
    }
    out = open;
    return open;
  }

  private OutputStream open(Path path) throws IOException {
    OutputStream opened =
        Files.newOutputStream(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    written = Files.size(path);
    return opened;
  }

  @Override
  public CompletableResultCode flush() {
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public synchronized CompletableResultCode shutdown() {
    try {
      if (file != null && out != null) {
        out.close();
      }
      return CompletableResultCode.ofSuccess();
    } catch (IOException e) {
      return CompletableResultCode.ofExceptionalFailure(e);
    }
  }
}
