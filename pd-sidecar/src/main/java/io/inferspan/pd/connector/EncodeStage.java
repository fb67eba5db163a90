package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.json.MediaItem;
import io.inferspan.pd.request.BodyMembers;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.telemetry.CallTrace;
import io.inferspan.pd.telemetry.SidecarMetrics;
import io.inferspan.pd.telemetry.Stage;
import io.inferspan.pd.telemetry.StageRun;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a request's images, audio items and videos to encoders, before its other stages.
 *
 * <p>The calls run in parallel. The first failure cancels the others, and the client gets a 502, or
 * a 503 if the limit for bodies in memory is reached.
 */
public final class EncodeStage {
  private static final String PATH = "/v1/chat/completions";
  private static final String REQUEST_ID = "x-request-id";

  /**
   * The limit of items: each one costs a call to an encoder, and a copy of the rest of the body.
   */
  private static final int MAX_ITEMS = 1000;

  /**
   * The limit of concurrent calls, because a body may have more items than there should be
   * connections.
   */
  private static final int MAX_CONCURRENT = 128;

  private final PdRequest request;
  private final List<MediaItem> items;
  private final boolean mergesTransferParams;
  private final Runnable next;
  private final String id = RequestIds.timeBased().toString();
  private final StageRun counted;
  private final Runnable cancelling = this::giveUp;
  private final Map<Integer, EngineCall> open = new HashMap<>();
  private final SortedMap<Integer, JsonObject> params = new TreeMap<>();
  private int asked;
  private int answered;
  private boolean over;

  private EncodeStage(
      PdRequest request, List<MediaItem> items, boolean mergesTransferParams, Runnable next) {
    this.request = request;
    this.items = items;
    this.mergesTransferParams = mergesTransferParams;
    this.next = next;
    this.counted = request.metrics().begin(Stage.ENCODE, request.trace().spanContext());
  }

  /**
   * Encodes each item on one of the request's encoders, then continues.
   *
   * @param mergesTransferParams whether the next stage gets the location of the encoders' output
   */
  public static void run(
      PdRequest request, boolean mergesTransferParams, Consumer<PdRequest> next) {
    request.compute(
        request.body().held(),
        () -> MediaItem.distinctIn(request.body().json(), MAX_ITEMS),
        items -> {
          if (items.isEmpty()) {
            next.accept(request);
          } else if (items.size() > MAX_ITEMS) {
            String text = "more than " + MAX_ITEMS + " images, audio items and videos";
            request.refuse(EngineAnswer.badRequest(text), "BadRequestError");
          } else {
            request.metrics().disaggregated(SidecarMetrics.ENCODE, request.trace().spanContext());
            EncodeStage stage =
                new EncodeStage(request, items, mergesTransferParams, () -> next.accept(request));
            request.trace().identify(stage.id);
            stage.start();
          }
        });
  }

  private void start() {
    request.whenGone(cancelling);
    while (!over && asked < Math.min(items.size(), MAX_CONCURRENT)) {
      askNext();
    }
  }

  private void askNext() {
    int index = asked++;
    List<Target> encoders = request.decision().encoders();
    Target encoder = encoders.get(index % encoders.size());
    JsonPieces body = encoderBody(request.body().json(), items.get(index)).pieces();
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, PATH);
    head.headers()
        .set(HttpHeaderNames.HOST, encoder.authority())
        .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
        .set(HttpHeaderNames.CONTENT_LENGTH, body.length())
        .set(REQUEST_ID, id + "-enc-" + index);
    CallTrace trace = request.trace().call("POST", encoder.host(), encoder.port());
    trace.inject(head.headers());
    EngineCall call = request.body().call(head, body, trace, answer -> take(index, answer));
    // Encoding twice is harmless, so the request is retried if an idle connection was dead.
    call.allowReplay();
    request.parts().encoders().start(request.loop(), encoder, call);
    call.endAfter(request.loop(), request.config().get(Settings.PREFILL_TIMEOUT));
    if (!call.over()) {
      open.put(index, call);
    }
  }

  /**
   * Returns the client's body, changed to a single message with one item, and limited to one token.
   */
  private static JsonEdit encoderBody(JsonObject body, MediaItem item) {
    JsonPieces messages =
        new JsonPieces().raw("[{\"role\":\"user\",\"content\":[").value(item.json()).raw("]}]");
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

  private void take(int index, EngineAnswer answer) {
    open.remove(index);
    if (over) {
      answer.release();
    } else if (!answer.ok()) {
      fail(answer);
    } else if (mergesTransferParams) {
      answer.heldBy(request.body().held());
      request.scan(answer.received(), scan -> add(index, scan.object()));
    } else {
      answer.release();
      answered();
    }
  }

  /** Stores a response's {@code ec_transfer_params}. A response without them is not an error. */
  private void add(int index, @Nullable JsonObject answer) {
    JsonValue said = answer == null ? null : answer.value(BodyMembers.EC_TRANSFER_PARAMS);
    JsonObject object = said == null ? null : said.object();
    if (object != null) {
      params.put(index, object);
    }
    if (!over) {
      answered();
    }
  }

  private void answered() {
    answered++;
    if (answered == items.size()) {
      finish();
    } else if (asked < items.size()) {
      askNext();
    }
  }

  private void finish() {
    over = true;
    request.over(cancelling);
    counted.ended();
    request.body().preset(BodyMembers.CACHE_HIT_THRESHOLD, "0".getBytes(US_ASCII));
    if (!params.isEmpty()) {
      request.body().preset(BodyMembers.EC_TRANSFER_PARAMS, merged());
    }
    request.exchange().request().headers().add(REQUEST_ID, id);
    next.run();
  }

  /** Merges all responses into one object; for equal keys the last item wins. */
  private byte[] merged() {
    Map<String, JsonValue> all = new TreeMap<>();
    params.values().forEach(said -> all.putAll(said.toMap()));
    JsonWriter out = new JsonWriter().beginObject();
    all.forEach((name, value) -> out.name(name).value(value));
    return out.endObject().toBytes();
  }

  private void fail(EngineAnswer answer) {
    cancel("cancelled");
    counted.failed();
    request.trace().fail(answer.errorType(), "encode request failed");
    answer.release();
    boolean noRoom = answer.failure() != null && answer.failure().kind() == Kind.NO_ROOM;
    request.deliver(noRoom ? answer : EngineAnswer.empty(HttpResponseStatus.BAD_GATEWAY));
  }

  private void giveUp() {
    cancel(request.givenUpBecause().type());
  }

  private void cancel(String errorType) {
    over = true;
    List.copyOf(open.values()).forEach(call -> call.cancel(errorType));
    open.clear();
  }
}
