package io.inferspan.pd.connector.moriio;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.config.SidecarConfig.MoriIo;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The prefill pod writes KV blocks into the decoder's memory, as the settings say. */
public final class WriteMode {
  private final MoriIo settings;
  private final PodAddresses pods;
  private final String decodeHost;

  private WriteMode(MoriIo settings, PodAddresses pods, String decodeHost) {
    this.settings = settings;
    this.pods = pods;
    this.decodeHost = decodeHost;
  }

  /** WRITE mode by these settings; null where it is off. */
  public static @Nullable WriteMode of(MoriIo settings, PodAddresses pods) {
    String host = settings.localPodIp();
    return settings.writeMode() && host != null ? new WriteMode(settings, pods, host) : null;
  }

  /** Both sides of one request's transfer. */
  public WriteTransfer begin(String requestId) {
    return new WriteTransfer(settings, pods, decodeHost, requestId);
  }

  /**
   * Returns the data-parallel rank of a request, which is the same on every pod.
   *
   * @param ranks the number of ranks, 1 or more
   */
  static int rank(String requestId, int ranks) {
    long hash = ByteBuffer.wrap(Blake2s.hash(requestId.getBytes(UTF_8))).getLong();
    return (int) Long.remainderUnsigned(hash, ranks);
  }
}
