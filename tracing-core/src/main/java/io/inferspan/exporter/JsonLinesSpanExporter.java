package io.inferspan.exporter;

import io.opentelemetry.exporter.internal.otlp.traces.TraceRequestMarshaler;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes OTLP/JSON with the SDK's encoder, one line per batch, to a file or to standard output.
 *
 * <p>Before a line that would exceed the size limit, the file is renamed to {@code <name>.1},
 * replacing the previous one. A single line may exceed the limit.
 */
public final class JsonLinesSpanExporter implements SpanExporter {

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
    requireEncoder();
    return new JsonLinesSpanExporter(file, null, maxBytes);
  }

  /** Writes to {@code console}, which stays open. */
  public static JsonLinesSpanExporter to(OutputStream console) {
    requireEncoder();
    return new JsonLinesSpanExporter(null, console, Long.MAX_VALUE);
  }

  /**
   * Throws if the JSON encoder does not work: older versions of OpenTelemetry need Jackson for it,
   * which may be absent.
   */
  private static void requireEncoder() {
    try {
      TraceRequestMarshaler.create(List.of()).writeJsonTo(OutputStream.nullOutputStream());
    } catch (LinkageError | IOException e) {
      throw new ConfigurationException(
          "OTEL_TRACES_EXPORTER names console or otlp_file, but OpenTelemetry's JSON encoder lacks "
              + e.getMessage()
              + "; raise the version of opentelemetry-bom, or add jackson-core",
          e);
    }
  }

  @Override
  public synchronized CompletableResultCode export(Collection<SpanData> spans) {
    try {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      TraceRequestMarshaler.create(spans).writeJsonTo(line);
      line.write('\n');
      OutputStream target = opened(line.size());
      line.writeTo(target);
      target.flush();
      written += line.size();
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
