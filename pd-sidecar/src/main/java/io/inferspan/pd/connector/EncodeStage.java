package io.inferspan.pd.connector;

import io.inferspan.pd.encode.EncoderCalls;
import io.inferspan.pd.encode.TransferParams;
import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.json.MediaItem;
import io.inferspan.pd.metrics.DisaggType;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.EngineQuestion;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.StageBody;
import io.inferspan.pd.upstream.Target;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import java.util.function.Consumer;

/** Runs the encoders of a request's images, sounds and videos before its other stages. */
public final class EncodeStage {
  private static final String PATH = "/v1/chat/completions";

  /** Each item is a call to an encoder, and a copy of the rest of the body. */
  private static final int MOST_ITEMS = 1000;

  private static final String REQUEST_ID = "x-request-id";

  private final boolean mergesTransferParams;

  public EncodeStage(boolean mergesTransferParams) {
    this.mergesTransferParams = mergesTransferParams;
  }

  /** Encodes each item on one of {@code encoders}, then goes on with the request. */
  public void run(PdRequest request, List<Target> encoders, Consumer<PdRequest> next) {
    List<MediaItem> items = MediaItem.distinctIn(request.body(), MOST_ITEMS);
    if (items.isEmpty()) {
      next.accept(request);
    } else if (items.size() > MOST_ITEMS) {
      String text = "more than " + MOST_ITEMS + " images, sounds and videos";
      request.refuse(HttpResponseStatus.BAD_REQUEST, "BadRequestError", text);
    } else {
      encode(request, items, encoders, next);
    }
  }

  private void encode(
      PdRequest request, List<MediaItem> items, List<Target> encoders, Consumer<PdRequest> next) {
    request.live().metrics().disaggregated(DisaggType.ENCODE, request.trace().spanContext());
    String id = RequestIds.timeBased().toString();
    TransferParams params = new TransferParams(request.limits().jsonDepth());
    new EncoderCalls(
            request,
            items.size(),
            index -> {
              StageBody body = StageBody.of(encoderBody(request.body(), items.get(index)));
              Target encoder = encoders.get(index % encoders.size());
              return ask(request, encoder, id + "-enc-" + index, body);
            },
            (answer, index) -> {
              if (mergesTransferParams) {
                params.add(answer.body(), index);
              }
            })
        .run(() -> goOn(request, id, params, next));
  }

  private static EngineQuestion ask(
      PdRequest request, Target encoder, String itemId, StageBody body) {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, PATH);
    head.headers()
        .set(HttpHeaderNames.HOST, encoder.authority())
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length())
        .set(REQUEST_ID, itemId);
    return request.askEncoder(encoder, head, body);
  }

  /** The client's body with one message of one item, of which one token is wanted. */
  private static JsonEdit encoderBody(JsonObject body, MediaItem item) {
    byte[] messages =
        new JsonWriter()
            .beginArray()
            .beginObject()
            .name("role")
            .text("user")
            .name("content")
            .beginArray()
            .value(item.json())
            .endArray()
            .endObject()
            .endArray()
            .toBytes();
    JsonEdit edit =
        body.edit()
            .set(BodyMembers.MESSAGES, messages)
            .set(BodyMembers.MAX_TOKENS, 1)
            .set(BodyMembers.STREAM, false)
            .remove(BodyMembers.STREAM_OPTIONS);
    return body.has(BodyMembers.MAX_COMPLETION_TOKENS)
        ? edit.set(BodyMembers.MAX_COMPLETION_TOKENS, 1)
        : edit;
  }

  private static void goOn(
      PdRequest request, String id, TransferParams params, Consumer<PdRequest> next) {
    JsonEdit edit = request.body().edit().set(BodyMembers.CACHE_HIT_THRESHOLD, 0);
    byte[] merged = params.merged();
    if (merged != null) {
      edit.set(BodyMembers.EC_TRANSFER_PARAMS, merged);
    }
    byte[] bytes = edit.toBytes();
    JsonObject body;
    try {
      body = JsonObject.scan(bytes, BodyMembers.SHAPE, request.limits().jsonDepth());
    } catch (InvalidJson e) {
      throw new IllegalStateException("valid JSON with valid JSON in it", e);
    }
    request.live().exchange().request().headers().add(REQUEST_ID, id);
    next.accept(request.withBody(body, StageBody.of(bytes, bytes.length)));
  }
}
