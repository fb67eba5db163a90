package io.inferspan.samples.desk.receiver;

import io.inferspan.samples.desk.otlp.Drop;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.ExportReader;
import io.inferspan.samples.desk.otlp.MalformedException;
import io.inferspan.samples.desk.otlp.Received;
import io.inferspan.samples.desk.receiver.OtlpResponse.Form;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Handles one export call, from its headers to its response, on the connection's event loop. */
final class OtlpCall {

  static final String HTTP_PATH = "/v1/traces";
  static final String GRPC_PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

  private final HttpServerRequest request;
  private final Shared shared;
  private final Form form;
  private Buffer body = Buffer.buffer();
  private long reservedBytes;
  private boolean ended;

  /** State shared by the calls of one event loop. */
  record Shared(
      ExportReader reader, Consumer<List<Received>> sink, Drops drops, ByteBudget budget) {}

  OtlpCall(HttpServerRequest request, Shared shared) {
    this.request = request;
    this.shared = shared;
    this.form = form(request.getHeader("content-type"));
  }

  private static Form form(@Nullable String contentType) {
    String type = contentType == null ? "" : contentType.toLowerCase(Locale.ROOT);
    if (type.startsWith("application/grpc")) {
      return Form.GRPC;
    }
    return type.startsWith("application/json") ? Form.JSON : Form.PROTOBUF;
  }

  /** Checks the headers and starts to read the body. */
  void open() {
    request.response().exceptionHandler(broken -> done());
    request.response().closeHandler(closed -> done());
    request.exceptionHandler(broken -> done());
    request.handler(this::data);
    request.endHandler(end -> complete());
    Refusal wrong = refusalOfHead();
    if (wrong != null) {
      refuse(wrong, Drop.MALFORMED_CALL);
    }
  }

  private @Nullable Refusal refusalOfHead() {
    if (!HttpMethod.POST.equals(request.method())) {
      return Refusal.WRONG_METHOD;
    }
    String path = form == Form.GRPC ? GRPC_PATH : HTTP_PATH;
    if (!path.equals(request.path())) {
      return Refusal.noSuchPath(path);
    }
    String type = request.getHeader("content-type");
    boolean known =
        form != Form.PROTOBUF
            || (type != null && type.toLowerCase(Locale.ROOT).startsWith("application/x-protobuf"));
    return known ? null : Refusal.unsupportedType();
  }

  private void data(Buffer piece) {
    if (ended) {
      return;
    }
    if (!shared.budget.take(piece.length())) {
      refuse(Refusal.BUSY, Drop.BUSY);
      return;
    }
    reservedBytes += piece.length();
    if (reservedBytes > Content.MAX_BYTES) {
      refuse(Refusal.tooLarge(Content.MAX_BYTES), Drop.CALL_TOO_LARGE);
      return;
    }
    body.appendBuffer(piece);
  }

  private void complete() {
    if (ended) {
      return;
    }
    try {
      ExportReader.Export export = read();
      shared.sink.accept(export.spans());
      done();
      OtlpResponse.accepted(request.response(), form, export.rejected());
    } catch (RefusedException e) {
      refuse(e.refusal(), e.drop());
    } catch (MalformedException e) {
      refuse(
          Refusal.malformed("not an ExportTraceServiceRequest: " + e.reason()),
          Drop.MALFORMED_CALL);
    } catch (RuntimeException e) {
      // An exception on an event loop would leave the caller without a response.
      refuse(Refusal.broken(e), Drop.FAILED_CALL);
    }
  }

  private ExportReader.Export read() throws RefusedException, MalformedException {
    byte[] bytes = body.getBytes();
    if (form == Form.GRPC) {
      return shared.reader.read(Content.ofFrame(bytes, request.getHeader("grpc-encoding")));
    }
    byte[] plain = Content.unpacked(bytes, request.getHeader("content-encoding"));
    return form == Form.JSON ? shared.reader.readJson(plain) : shared.reader.read(plain);
  }

  private void refuse(Refusal refusal, Drop drop) {
    done();
    shared.drops.count(drop, 1);
    OtlpResponse.refused(request.response(), form, refusal);
  }

  /**
   * Ends the call: releases the body, and discards the rest of it when it arrives, because unread
   * data would block the connection's flow-control window.
   */
  private void done() {
    ended = true;
    body = Buffer.buffer();
    shared.budget.release(reservedBytes);
    reservedBytes = 0;
  }
}
