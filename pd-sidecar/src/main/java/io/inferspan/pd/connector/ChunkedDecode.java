package io.inferspan.pd.connector;

import io.inferspan.pd.chunk.ChunkLoop;
import io.inferspan.pd.chunk.ChunkQuestions;
import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.stage.BodyMembers;
import io.inferspan.pd.stage.DecodeLeg;
import io.inferspan.pd.stage.PdRequest;
import org.jspecify.annotations.Nullable;

/** Decodes a chat completion in chunks of a bounded number of tokens. */
public final class ChunkedDecode {
  private final int chunkSize;

  public ChunkedDecode(int chunkSize) {
    this.chunkSize = chunkSize;
  }

  /** Serves a request whose stages all run here. */
  public void serve(PdRequest request) {
    decode(request, DecodeLeg.of(request.original()).on(request.decoder()));
  }

  /** Decodes in chunks, or in one piece where that is enough or something waits for all of it. */
  public void decode(PdRequest request, DecodeLeg leg) {
    JsonObject body = leg.gate() == null ? body(request, leg) : null;
    ChunkQuestions questions = body == null ? null : ChunkQuestions.of(body, chunkSize);
    if (questions == null) {
      request.decodeWhole(leg);
    } else {
      new ChunkLoop(request, leg, questions).start();
    }
  }

  private static @Nullable JsonObject body(PdRequest request, DecodeLeg leg) {
    if (leg.body().equals(request.original())) {
      return request.body();
    }
    try {
      return JsonObject.scan(leg.body().toBytes(), BodyMembers.SHAPE, request.limits().jsonDepth());
    } catch (InvalidJson _) {
      return null;
    }
  }
}
