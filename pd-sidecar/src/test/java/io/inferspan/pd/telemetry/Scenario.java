package io.inferspan.pd.telemetry;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.pd.rig.SidecarRig;
import io.inferspan.pd.rig.Wire;
import io.inferspan.testing.engine.EngineScript;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

/** A course of a request; each has a golden file with its trace. */
enum Scenario {
  PD_STREAMED(5, 8) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.STREAMED, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  PD_WHOLE(5, 8) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(
          "/v1/completions?api_key=hidden",
          "{\"model\":\"m\",\"prompt\":\"one two three\"}",
          TracedPd.PREFILLER,
          pd.prefiller().authority() + ",127.0.0.2:1");
    }
  },
  PD_STREAMED_CACHED(5, 8) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      cached(pd, rig, TracedPd.STREAMED);
    }
  },
  PD_WHOLE_CACHED(5, 8) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      cached(pd, rig, TracedPd.WHOLE);
    }
  },
  TUNNEL(1, 1) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      try (Wire client = Wire.to(rig.port())) {
        client.send("CONNECT user:hidden@b:1 HTTP/1.1\r\nhost: a\r\n\r\n").message();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  },
  CONCURRENT_SGLANG(5, 8, "--kv-connector=sglang") {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      decodingAfterPrefill(pd);
      rig.post(TracedPd.CHAT, TracedPd.STREAMED, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  CONCURRENT_MOONCAKE(5, 8) {
    @Override
    SidecarRig rig(TracedPd pd, SpanNaming naming) {
      String port = "--mooncake-bootstrap-port=" + pd.bootstrapPort();
      return pd.rig(naming, "--kv-connector=mooncake", port);
    }

    @Override
    void play(TracedPd pd, SidecarRig rig) {
      decodingAfterPrefill(pd);
      rig.post(TracedPd.CHAT, TracedPd.STREAMED, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  PARALLEL_DISPATCH(
      5, 8, "--moriio-write-mode", "--moriio-parallel-dispatch", "--moriio-local-pod-ip=10.0.0.9") {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.STREAMED, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  ENCODED(6, 10, "--ec-connector=ec-nixl") {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(
          TracedPd.CHAT,
          TracedPd.WITH_IMAGE,
          TracedPd.PREFILLER,
          pd.prefiller().authority(),
          "x-encoder-hosts-ports",
          pd.encoder().authority());
    }
  },
  ENCODE_500(1, 3, "--ec-connector=ec-nixl") {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.encoder().enqueue(EngineScript.builder().failWith(500, "out of memory").build());
      rig.post(
          TracedPd.CHAT,
          TracedPd.WITH_IMAGE,
          TracedPd.PREFILLER,
          pd.prefiller().authority(),
          "x-encoder-hosts-ports",
          pd.encoder().authority());
    }
  },
  BROKEN_FRAMING(1, 2) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      String head =
          "POST %s HTTP/1.1\r\nhost: a\r\n%s: %s\r\ntransfer-encoding: chunked\r\n\r\n"
              .formatted(TracedPd.CHAT, TracedPd.PREFILLER, pd.prefiller().authority());
      try (Wire client = Wire.to(rig.port())) {
        client.send(head + "no chunk\r\n").rest();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  },
  DECODE_ONLY(2, 4) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.STREAMED);
    }
  },
  PASSTHROUGH(1, 2) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.get("/v1/models?api_key=hidden");
    }
  },
  DENIED(1, 2) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.WHOLE, TracedPd.PREFILLER, "http://10.1.2.3:8000");
    }
  },
  BAD_TARGET(1, 2) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.WHOLE, TracedPd.PREFILLER, "user:secret@127.0.0.1:8000");
    }
  },
  NOT_JSON(1, 2) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, "hello", TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  PREFILL_500(2, 4) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.prefiller().script(EngineScript.builder().failWith(500, "out of memory").build());
      rig.post(TracedPd.CHAT, TracedPd.WHOLE, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  PREFILL_DEAD(2, 4) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.WHOLE, TracedPd.PREFILLER, "127.0.0.1:" + pd.unusedPort());
    }
  },
  DECODER_REFUSED(4, 7) {
    @Override
    SidecarRig rig(TracedPd pd, SpanNaming naming) {
      return pd.withoutDecoder(naming);
    }

    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.WHOLE, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  DECODE_ONLY_REFUSED(1, 3) {
    @Override
    SidecarRig rig(TracedPd pd, SpanNaming naming) {
      return pd.withoutDecoder(naming);
    }

    @Override
    void play(TracedPd pd, SidecarRig rig) {
      rig.post(TracedPd.CHAT, TracedPd.WHOLE);
    }
  },
  DECODER_500(4, 7) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.decoder().script(EngineScript.builder().failWith(500, "out of memory").build());
      rig.post(TracedPd.CHAT, TracedPd.STREAMED, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  DECODER_RESET(4, 7) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.decoder().script(EngineScript.builder().cutAfterTokens(3).build());
      try (LeavingClient client = streaming(pd, rig)) {
        client.readUntil("[DONE]");
      }
    }
  },
  ERROR_IN_THE_STREAM(4, 7) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.decoder().script(EngineScript.builder().errorEventAfterTokens(2, "gone wrong").build());
      rig.post(TracedPd.CHAT, TracedPd.STREAMED, TracedPd.PREFILLER, pd.prefiller().authority());
    }
  },
  CLIENT_LEAVES_THE_STREAM(4, 7) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.decoder().script(unfinished());
      try (LeavingClient client = streaming(pd, rig)) {
        client.readUntil("tok3");
      }
    }
  },
  CLIENT_LEAVES_DECODE_ONLY(1, 3) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.decoder().script(unfinished());
      try (LeavingClient client =
          LeavingClient.post(rig.port(), TracedPd.CHAT, TracedPd.STREAMED)) {
        client.readUntil("tok3");
        client.reset();
      }
    }
  },
  CLIENT_LEAVES_DURING_PREFILL(2, 4) {
    @Override
    void play(TracedPd pd, SidecarRig rig) {
      pd.prefiller().script(EngineScript.builder().prefill(Duration.ofSeconds(20)).build());
      LeavingClient client = streaming(pd, rig);
      pd.prefiller().awaitRequests(1, Duration.ofSeconds(10));
      client.close();
    }
  };

  private final int proposalSpans;
  private final int llmdSpans;

  @SuppressWarnings("ImmutableEnumChecker") // never written to
  private final String[] flags;

  Scenario(int proposalSpans, int llmdSpans, String... flags) {
    this.proposalSpans = proposalSpans;
    this.llmdSpans = llmdSpans;
    this.flags = flags;
  }

  /** Makes prefill end before decode, as when KV blocks are transferred. */
  private static void decodingAfterPrefill(TracedPd pd) {
    pd.decoder().script(EngineScript.builder().prefill(Duration.ofMillis(300)).build());
  }

  abstract void play(TracedPd pd, SidecarRig rig);

  SidecarRig rig(TracedPd pd, SpanNaming naming) {
    return pd.rig(naming, flags);
  }

  /** Returns the number of spans after all have ended. */
  int spans(SpanNaming naming) {
    return naming == SpanNaming.PROPOSAL ? proposalSpans : llmdSpans;
  }

  /** The decoder counts the transferred tokens as cached; the client gets prefill's count. */
  private static void cached(TracedPd pd, SidecarRig rig, String body) {
    pd.prefiller().script(EngineScript.builder().cachedTokens(1).build());
    pd.decoder().script(EngineScript.builder().cachedTokens(2).build());
    rig.post(TracedPd.CHAT, body, TracedPd.PREFILLER, pd.prefiller().authority());
  }

  /** Sends four tokens, the last of them "tok3", and waits until the client has left. */
  private static EngineScript unfinished() {
    return EngineScript.builder().tokens(100).stallAfterTokens(4).build();
  }

  private static LeavingClient streaming(TracedPd pd, SidecarRig rig) {
    return LeavingClient.post(
        rig.port(),
        TracedPd.CHAT,
        TracedPd.STREAMED,
        TracedPd.PREFILLER + ": " + pd.prefiller().authority());
  }
}
