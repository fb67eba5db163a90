package io.inferspan.pd.encode;

import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonKind;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.stage.BodyMembers;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Where the encoders' outputs are to be had, gathered from their answers into one map. */
public final class TransferParams {
  private static final Logger LOG = System.getLogger(TransferParams.class.getName());
  private static final JsonShape ANSWER = JsonShape.of(BodyMembers.EC_TRANSFER_PARAMS);

  private final int jsonDepth;
  private final SortedMap<Integer, JsonObject> byItem = new TreeMap<>();

  public TransferParams(int jsonDepth) {
    this.jsonDepth = jsonDepth;
  }

  /** Takes what the answer about an item says; one that says nothing is no error. */
  public void add(byte[] answer, int item) {
    JsonObject params = read(answer);
    if (params == null) {
      LOG.log(Level.DEBUG, "An encoder's answer has no ec_transfer_params");
    } else {
      byItem.put(item, params);
    }
  }

  private @Nullable JsonObject read(byte[] answer) {
    try {
      JsonValue params =
          JsonObject.scan(answer, ANSWER, jsonDepth).value(BodyMembers.EC_TRANSFER_PARAMS);
      return params == null || params.kind() != JsonKind.OBJECT
          ? null
          : JsonObject.scan(params.copy(), JsonShape.all(), jsonDepth);
    } catch (InvalidJson _) {
      return null;
    }
  }

  /** All of it as one object, null where no answer had any; of equal keys the last item's wins. */
  public byte @Nullable [] merged() {
    if (byItem.isEmpty()) {
      return null;
    }
    Map<String, JsonValue> all = new TreeMap<>();
    for (JsonObject params : byItem.values()) {
      params.names().forEach(name -> put(all, name, params.value(name)));
    }
    JsonWriter out = new JsonWriter().beginObject();
    all.forEach((name, value) -> out.name(name).value(value));
    return out.endObject().toBytes();
  }

  private static void put(Map<String, JsonValue> all, String name, @Nullable JsonValue value) {
    if (value != null) {
      all.put(name, value);
    }
  }
}
