package io.inferspan.pd.chunk;

import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.request.DecodeLeg;
import io.inferspan.pd.request.PdRequest;
import io.inferspan.pd.request.RequestBody;

/** Decodes a chat completion in chunks of a bounded number of tokens. */
public final class ChunkedDecode {
  private final int chunkSize;

  public ChunkedDecode(int chunkSize) {
    this.chunkSize = chunkSize;
  }

  /** Decodes in chunks, or in one piece where that is enough or something waits for all of it. */
  public void decode(PdRequest request, DecodeLeg leg) {
    if (leg.gate() != null) {
      request.streamWhole(leg);
      return;
    }
    RequestBody body = request.body();
    boolean same = leg.body().equals(body.original()) && !body.changed();
    // The body to ask with is a copy once prefill has changed it.
    boolean room = same || body.held().take(leg.body().length());
    int depth = request.limits().jsonDepth();
    request.compute(
        body.held(),
        () -> {
          JsonObject json = body.json();
          if (!same) {
            json = room ? json.scanAlike(leg.body().toBytes(), depth).object() : null;
          }
          return json == null ? null : ChunkRequests.of(json, chunkSize);
        },
        requests -> {
          if (requests == null) {
            request.streamWhole(leg);
          } else {
            new ChunkLoop(request, leg, requests).start();
          }
        });
  }
}
