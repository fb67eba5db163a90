package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Records of an engine's messages and calls without a plugin, as the kernel writes them. */
abstract class EngineMessages {

  static final int API_SERVER = 50;
  static final int ENGINE = 60;
  static final int WORKER = 70;
  static final int FRAMES = 8;
  static final int COOPERATIVE = 4;
  static final long OWNER = 4_096;
  static final long STREAM = 0x51;
  static final long EVENT = 0xe0;
  static final long FINISHED = 1L << 57;
  static final long LAST = 1L << 32;
  static final long ABORTED = 2L << 32;
  static final long BROKEN = 4L << 32;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());
  long requestFields = 18;
  long outputFields = 14;
  long sinceNanos = kernel.now - 1;

  EventBytes at(Kind kind, int tgid) {
    return EventBytes.of(kind)
        .from(kernel.now, kernel.now)
        .by(tgid, tgid)
        .under(OWNER)
        .known(FRAMES, 0);
  }

  void head(long number, String requestId) {
    kernel.happens(
        at(Kind.OWNER_BEGAN, API_SERVER)
            .under(number)
            .known(2, 0)
            .result(1)
            .named(7, number, 9)
            .requestId(requestId));
    kernel.now += FakeKernel.MILLI;
  }

  void add(long slot, String engineId) {
    kernel.happens(
        at(Kind.SLOT_BOUND, ENGINE).of(slot, requestFields, API_SERVER).requestId(engineId));
    kernel.now += FakeKernel.MILLI;
  }

  void addSampled() {
    head(1, "a");
    add(1, "chatcmpl-a-0123abcd");
  }

  void call(Kind kind, int tgid, long detail, long extra) {
    kernel.happens(at(kind, tgid).known(COOPERATIVE, 0).of(1, detail, extra));
    kernel.now += FakeKernel.MICRO;
  }

  /** Launches two kernels and waits for them. */
  void work() {
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0);
    call(Kind.CUDA_LAUNCH, ENGINE, STREAM, 0);
    call(Kind.CUDA_EVENT_RECORD, ENGINE, STREAM, EVENT);
    kernel.now += FakeKernel.MILLI;
    call(Kind.CUDA_EVENT_SYNC, ENGINE, EVENT, 0);
  }

  void outputs(long... changes) {
    outputsOf(kernel.now - FakeKernel.MICRO, changes);
  }

  /** Reports the outputs of a step that ended at {@code nanos}. */
  void outputsOf(long nanos, long... changes) {
    long seconds = Double.doubleToRawLongBits(nanos / 1e9);
    kernel.happens(
        at(Kind.STEP_CHANGES, ENGINE)
            .from(sinceNanos, kernel.now)
            .of(changes.length, LAST | outputFields, seconds)
            .changes(changes));
    kernel.now += FakeKernel.MILLI;
  }

  static long token(long slot) {
    return slot | 1L << 32;
  }

  static double number(SpanRecord span, String attribute) {
    return span.attribute(attribute) instanceof Double number ? number : Double.NaN;
  }

  List<SpanRecord> named(String name) {
    return tracing.spans().stream().filter(span -> span.name().equals(name)).toList();
  }

  SpanRecord only(String name) {
    assertThat(named(name)).hasSize(1);
    return named(name).getFirst();
  }

  /** Begins a new period in which calls are observed, after a pause. */
  void pause() {
    sinceNanos = kernel.now;
    kernel.now += FakeKernel.MICRO;
  }

  List<Double> coverageOfSteps() {
    kernel.sink.flush();
    return named("llm_d.engine.step").stream()
        .map(step -> number(step, "attribution.coverage"))
        .toList();
  }
}
