package io.inferspan.pd.connector;

import io.inferspan.pd.json.JsonEdit;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import io.inferspan.pd.stage.PrefillLeg;
import io.inferspan.pd.stage.StageBody;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** {@code sglang}: both stages get the same request at once and meet in a room of that number. */
public final class Sglang implements Connector {
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final long ROOMS_PER_NANO = 1000;

  private final int bootstrapPort;

  /**
   * The connector.
   *
   * @param bootstrapPort where the bootstrap servers of prefill pods listen
   */
  public Sglang(int bootstrapPort) {
    this.bootstrapPort = bootstrapPort;
  }

  @Override
  public String name() {
    return "sglang";
  }

  @Override
  public void serve(PdRequest request) {
    long room = newRoom();
    JsonEdit edit =
        request
            .body()
            .edit()
            .setText(BodyMembers.BOOTSTRAP_HOST, request.prefiller().host())
            .set(BodyMembers.BOOTSTRAP_PORT, bootstrapPort)
            .set(BodyMembers.BOOTSTRAP_ROOM, room);
    StageBody body = StageBody.of(edit);
    request.prefill(PrefillLeg.beside(body, Map.of()).in(room));
    request.decode(DecodeLeg.of(body));
  }

  private static long newRoom() {
    Instant now = Instant.now();
    return now.getEpochSecond() * NANOS_PER_SECOND
        + now.getNano()
        + ThreadLocalRandom.current().nextLong(ROOMS_PER_NANO);
  }
}
