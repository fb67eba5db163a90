package io.inferspan.pd.connector;

import com.google.auto.service.AutoService;
import io.inferspan.pd.config.KvConnector;
import io.inferspan.pd.config.Settings;
import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.PrefillLeg;
import io.inferspan.pd.telemetry.Dispatch;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The connector {@code sglang}: both stages get the same request concurrently, and their engines
 * find each other by a room number in the request.
 */
@AutoService(KvConnector.class)
public final class Sglang implements Connector {
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final long ROOMS_PER_NANO = 1000;

  private static final String HOST = "bootstrap_host";
  private static final String PORT = "bootstrap_port";
  private static final String ROOM = "bootstrap_room";

  @Override
  public About about() {
    return new About(
        "sglang",
        "prefill and decode concurrently",
        "`bootstrap_host`, `bootstrap_port`, `bootstrap_room`");
  }

  @Override
  public void serve(PdRequest request) {
    long room = newRoom();
    JsonEdit edit =
        request
            .body()
            .edit()
            .setText(HOST, request.prefiller().host())
            .set(PORT, request.config().get(Settings.SGLANG_BOOTSTRAP_PORT))
            .set(ROOM, room);
    JsonPieces body = edit.pieces();
    request.ask(new PrefillLeg(body, Map.of(), Dispatch.DETACHED, room), _ -> {});
    request.stream(DecodeLeg.of(body));
  }

  private static long newRoom() {
    Instant now = Instant.now();
    return now.getEpochSecond() * NANOS_PER_SECOND
        + now.getNano()
        + ThreadLocalRandom.current().nextLong(ROOMS_PER_NANO);
  }
}
