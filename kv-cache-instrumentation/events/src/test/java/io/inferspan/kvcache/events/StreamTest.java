package io.inferspan.kvcache.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.kvcache.Awaited;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Accounting of one publisher: each batch it numbered is applied once or counted as missed. */
class StreamTest {

  private static final long COOLDOWN_MILLIS = 500;
  private static final byte[] SMALL = {1};

  /** As much as is held at most. */
  private static final byte[] LARGE = new byte[8 << 20];

  private final Effects effects = new Effects();
  private final KvEventCounts counts = effects.counts();
  private Stream stream = new Stream("pod", "tcp://here:1", "tcp://here:2", effects);

  static final class Effects implements Stream.Actions {
    private final KvEventCounts counts = new KvEventCounts();
    private final List<Long> applied = new ArrayList<>();
    private final List<Replay> replays = new ArrayList<>();
    private int invalidated;

    @Override
    public KvEventCounts counts() {
      return counts;
    }

    @Override
    public Replay.Limits limits() {
      return new Replay.Limits(1, 1, 1, 1, COOLDOWN_MILLIS, 1);
    }

    @Override
    public void apply(Stream stream, Message message, KvEventBatch batch) {
      applied.add(message.sequence());
    }

    @Override
    public void invalidate(Stream stream) {
      invalidated++;
    }

    @Override
    public void replay(Replay replay) {
      replays.add(replay);
    }

    @Override
    public void watch(Stream stream) {}

    private Replay last() {
      return replays.get(replays.size() - 1);
    }
  }

  private static KvEventBatch batch() {
    return new KvEventBatch(1, List.of(), 0);
  }

  private Message message(long sequence, byte[] payload, int connection) {
    return Message.live(stream, sequence, Topic.NONE, payload, connection);
  }

  private void live(long... sequences) {
    for (long sequence : sequences) {
      stream.live(message(sequence, SMALL, 1), batch());
    }
  }

  private void ended(Message.Kind how) {
    stream.ended(Message.ended(how, effects.last()));
  }

  private void replayed(long... sequences) {
    for (long sequence : sequences) {
      Message message = Message.replayed(effects.last(), sequence, Topic.NONE, SMALL);
      stream.replayed(message, batch());
    }
  }

  /** One of 0, 1 and 2 is lost and cannot be replayed, and it is time to ask for all there is. */
  private void lapsed() {
    live(0, 2);
    ended(Message.Kind.REPLAY_FAILED);
    long end = System.nanoTime() + COOLDOWN_MILLIS * 1_000_000;
    Awaited.until("it may be asked again", () -> System.nanoTime() - end > 0);
    assertThat(effects.applied).containsExactly(0L, 2L);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(1);
  }

  /** The receiver has no room for these. */
  private void noRoom(long first, long last) {
    for (long sequence = first; sequence <= last; sequence++) {
      stream.arrived(sequence);
      stream.dropped(sequence);
    }
  }

  private void arrivesAndIsLive(long... sequences) {
    for (long sequence : sequences) {
      stream.arrived(sequence);
      live(sequence);
    }
  }

  @Test
  void batchesDroppedBeforeARestart_areNotMissedAfterIt() {
    stream = new Stream("pod", "", null, effects);
    arrivesAndIsLive(0, 1);
    noRoom(2, 5_000);

    arrivesAndIsLive(0);
    stream.idle();
    arrivesAndIsLive(1, 2, 3);
    stream.idle();

    assertThat(effects.applied).containsExactly(0L, 1L, 0L, 1L, 2L, 3L);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(4_999);
    assertThat(counts.get(KvEventCount.RESTARTS)).isEqualTo(1);
    assertThat(effects.invalidated).isEqualTo(1);
  }

  @Test
  void batchesDroppedBeforeTheWorkerSawTheRestart_areMissed() {
    stream = new Stream("pod", "", null, effects);
    arrivesAndIsLive(0, 1, 2, 3, 4, 5);
    noRoom(6, 9);
    stream.arrived(0);
    noRoom(1, 3);

    live(0);
    stream.idle();

    assertThat(counts.get(KvEventCount.RESTARTS)).isEqualTo(1);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(4 + 3);
    assertThat(counts.get(KvEventCount.GAPS)).isEqualTo(1);
    arrivesAndIsLive(4);
    assertThat(counts.get(KvEventCount.RESTARTS)).isEqualTo(1);
    assertThat(effects.applied).endsWith(0L, 4L);
  }

  @Test
  void heldBatchesFromBeforeARestart_areMissed() {
    live(0, 3, 4, 6);

    live(0);

    assertThat(effects.applied).containsExactly(0L, 0L);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(6);
    assertThat(effects.replays.get(0).cancelled()).isTrue();
  }

  @Test
  void heldBatchesFromAfterARestart_areApplied() {
    live(0, 1);
    stream.live(message(6, SMALL, 2), batch());
    stream.live(message(7, SMALL, 2), batch());
    assertThat(effects.last().mode()).isEqualTo(Replay.Mode.IDENTITY);
    ended(Message.Kind.PUBLISHER_RESTARTED);
    replayed(0, 1, 2, 3, 4, 5);
    ended(Message.Kind.REPLAY_DONE);

    assertThat(effects.applied).containsExactly(0L, 1L, 0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    assertThat(counts.get(KvEventCount.BATCHES)).isEqualTo(4);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(6);
  }

  @Test
  void batchesLostWithAConnection_areMissedOnce() {
    live(0, 1);
    stream.live(message(4, SMALL, 2), batch());
    replayed(2, 3);
    ended(Message.Kind.REPLAY_DONE);

    assertThat(effects.applied).containsExactly(0L, 1L, 2L, 3L, 4L);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(2);
    assertThat(counts.get(KvEventCount.GAPS)).isEqualTo(1);
  }

  @Test
  void batchesMissingInAFullReplay_areMissedOnce() {
    lapsed();

    live(5);
    assertThat(effects.last().mode()).isEqualTo(Replay.Mode.ALL);
    replayed(0, 1, 2, 3, 4);
    ended(Message.Kind.REPLAY_DONE);

    assertThat(effects.applied).endsWith(0L, 1L, 2L, 3L, 4L, 5L);
    assertThat(counts.get(KvEventCount.BATCHES) + counts.get(KvEventCount.MISSED_BATCHES))
        .isEqualTo(6);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(3);
    assertThat(counts.get(KvEventCount.GAPS)).isEqualTo(2);
  }

  @Test
  void batchesMissingAtTheEndOfAFullReplay_areMissedOnce() {
    live(0);
    stream.live(message(2, LARGE, 1), batch());
    live(3);
    assertThat(counts.get(KvEventCount.DROPPED_BATCHES)).isEqualTo(1);
    ended(Message.Kind.REPLAY_FAILED);
    long end = System.nanoTime() + COOLDOWN_MILLIS * 1_000_000;
    Awaited.until("it may be asked again", () -> System.nanoTime() - end > 0);

    stream.idle();
    assertThat(effects.last().mode()).isEqualTo(Replay.Mode.ALL);
    assertThat(effects.last().through()).isEqualTo(3);
    ended(Message.Kind.REPLAY_FAILED);
    live(4);

    assertThat(counts.get(KvEventCount.BATCHES)).isEqualTo(3);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(2);
  }

  @Test
  void batchesMissingAfterAReplay_areRequestedToo() {
    live(0);
    stream.live(message(2, LARGE, 1), batch());
    live(3);
    replayed(1);
    ended(Message.Kind.REPLAY_DONE);
    stream.idle();
    assertThat(effects.last().from()).isEqualTo(3);

    live(6);
    replayed(3);
    ended(Message.Kind.REPLAY_DONE);

    assertThat(effects.replays).hasSize(3);
    assertThat(effects.last().from()).isEqualTo(4);
    replayed(4, 5);
    ended(Message.Kind.REPLAY_DONE);
    assertThat(effects.applied).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
    assertThat(counts.get(KvEventCount.MISSED_BATCHES)).isEqualTo(1 + 1 + 2);
  }
}
