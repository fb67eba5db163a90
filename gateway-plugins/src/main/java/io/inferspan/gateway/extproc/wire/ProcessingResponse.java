package io.inferspan.gateway.extproc.wire;

import io.inferspan.gateway.extproc.wire.ProcessingRequest.Part;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes what Envoy is told to do: {@code envoy.service.ext_proc.v3.ProcessingResponse}.
 *
 * <p>Every message comes with room for a gRPC frame's head before it.
 */
public final class ProcessingResponse {

  /** Bytes that are left free before a message. */
  public static final int HEAD_ROOM = 5;

  /** The most body bytes in one message: with its wrapping it stays below 64 KiB, as Envoy asks. */
  public static final int MAX_PIECE_BYTES = 62_000;

  /** Where Envoy's load balancer looks for the endpoint. */
  private static final String ROUTING_NAMESPACE = "envoy.lb";

  private static final int OVERWRITE_IF_EXISTS_OR_ADD = 2;
  private static final int SEND = 1;
  private static final int MESSAGE_OVERHEAD = 64;

  private ProcessingResponse() {}

  /**
   * An answer beyond plain consent.
   *
   * @param changes what changes in the headers
   * @param reroute whether Envoy is to choose its route anew, since headers changed
   * @param destination the endpoint for Envoy's load balancer, under its header's name; or null
   * @param modes how bodies are to come from now on; or null, for as they do
   */
  public record Answer(
      HeaderChanges changes,
      boolean reroute,
      @Nullable Destination destination,
      ProcessingRequest.@Nullable Modes modes) {

    /** Lets the part pass as it is. */
    public static final Answer PASS = changing(new HeaderChanges());

    /** Changes headers and nothing else. */
    public static Answer changing(HeaderChanges changes) {
      return new Answer(changes, false, null, null);
    }
  }

  /** A value that the load balancer finds under a key. */
  public record Destination(String key, String value) {}

  /** Answers headers or a part of a body that was not streamed both ways. */
  public static ByteBuffer answer(Part part, Answer answer) {
    return answer(part, answer, common -> {});
  }

  /** Answers a body that was not streamed both ways, and puts these pieces in its place. */
  public static ByteBuffer replacing(Part part, Answer answer, List<ByteBuffer> body) {
    return answer(part, answer, common -> common.message(3, mutation -> mutation.bytes(1, body)));
  }

  private static ByteBuffer answer(Part part, Answer answer, Consumer<ProtoWriter> more) {
    ProtoWriter out = new ProtoWriter(HEAD_ROOM, 0);
    out.message(
        part.answerField,
        inner ->
            inner.message(
                1,
                common -> {
                  common(common, answer);
                  more.accept(common);
                }));
    Destination destination = answer.destination();
    if (destination != null) {
      out.message(8, struct -> metadata(struct, destination));
    }
    ProcessingRequest.Modes modes = answer.modes();
    if (modes != null) {
      out.message(9, mode -> modes(mode, modes));
    }
    return out.written();
  }

  /** Answers trailers, which pass as they are. */
  public static ByteBuffer trailers(Part part) {
    return new ProtoWriter(HEAD_ROOM, 0).message(part.answerField, inner -> {}).written();
  }

  /** Sends a piece of a body on its way that was streamed here. */
  public static ByteBuffer piece(Part part, ByteBuffer body, boolean endOfStream) {
    ProtoWriter out = new ProtoWriter(HEAD_ROOM, body.remaining() + MESSAGE_OVERHEAD);
    return out.message(
            part.answerField,
            inner ->
                inner.message(
                    1,
                    common ->
                        common.message(
                            3,
                            mutation ->
                                mutation.message(3, it -> streamed(it, body, endOfStream)))))
        .written();
  }

  private static void streamed(ProtoWriter out, ByteBuffer body, boolean endOfStream) {
    out.bytes(1, body);
    if (endOfStream) {
      out.flag(2, true);
    }
  }

  /**
   * Answers the client in the engine's place.
   *
   * @param details a word for Envoy's access log
   */
  public static ByteBuffer immediate(
      int status, HeaderChanges headers, String body, String details) {
    ByteBuffer text = ByteBuffer.wrap(body.getBytes(StandardCharsets.UTF_8));
    return new ProtoWriter(HEAD_ROOM, 0)
        .message(
            7,
            inner -> {
              inner.message(1, code -> code.number(1, status));
              inner.message(2, mutation -> mutation(mutation, headers));
              inner.bytes(3, text);
              inner.text(5, details);
            })
        .written();
  }

  private static void common(ProtoWriter out, Answer answer) {
    if (!answer.changes().isEmpty()) {
      out.message(2, mutation -> mutation(mutation, answer.changes()));
    }
    if (answer.reroute()) {
      out.flag(5, true);
    }
  }

  private static void mutation(ProtoWriter out, HeaderChanges changes) {
    changes.toSet().forEach((name, value) -> out.message(1, it -> option(it, name, value)));
    changes.toRemove().forEach(name -> out.text(2, name));
  }

  private static void option(ProtoWriter out, String name, String value) {
    ByteBuffer raw = ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8));
    out.message(1, header -> header.text(1, name).bytes(3, raw));
    out.number(3, OVERWRITE_IF_EXISTS_OR_ADD);
  }

  /** A struct of one namespace of one text. */
  private static void metadata(ProtoWriter struct, Destination destination) {
    entry(
        struct,
        ROUTING_NAMESPACE,
        value ->
            value.message(
                5,
                inner ->
                    entry(inner, destination.key(), text -> text.text(3, destination.value()))));
  }

  private static void entry(ProtoWriter struct, String key, Consumer<ProtoWriter> value) {
    struct.message(1, entry -> entry.text(1, key).message(2, value));
  }

  /** All modes: Envoy takes an override for the whole, so what is left out would be off. */
  private static void modes(ProtoWriter out, ProcessingRequest.Modes modes) {
    out.number(1, SEND)
        .number(2, SEND)
        .number(3, modes.request().number())
        .number(4, modes.response().number())
        .number(6, SEND);
  }
}
