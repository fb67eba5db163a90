package io.inferspan.ebpf;

import static io.inferspan.ebpf.ContextSharing.PUBLISH;
import static io.inferspan.ebpf.ContextSharing.READ;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.catalog.SpanCatalog;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Contexts that are shared with other OpenTelemetry programs of the machine. */
class SharedContextsIT {

  private static final String IDS = "0af7651916cd43dd8448eb211c80319cb7ad6b7169203331";
  private static final String TRACE = IDS.substring(0, 32);
  private static final String PARENT = IDS.substring(32);
  private static final int READS = 30;

  private static final String READER =
      """
      import sys
      sys.stdin.readline()
      with open("/dev/null", "rb", 0) as nothing:
          for _ in range(%d):
              nothing.read(1)
      print("done", flush=True)
      sys.stdin.readline()
      """
          .formatted(READS);

  private static final String HELD =
      """
      import sys
      sys.path.insert(0, sys.argv[2])
      from inferspan_ckp import Ckp
      ckp = Ckp(sys.argv[1])
      print("ready", flush=True)
      sys.stdin.readline()
      with ckp.request("00-%s-%s-01"):
          print("outer", flush=True)
          sys.stdin.readline()
      print("out", flush=True)
      sys.stdin.readline()
      """
          .formatted(TRACE, PARENT);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @TempDir private Path directory;
  private final List<AutoCloseable> opened = new ArrayList<>();
  private SharedMap map;

  @BeforeEach
  void mount() {
    map = kept(SharedMap.mount(directory));
  }

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void threadInTheSharedMap_isObserved() {
    map.open();

    List<SpanRecord> reads = reads(bridge(READ));

    assertThat(reads).allMatch(span -> span.traceId().equals(TRACE));
    assertThat(reads).allMatch(span -> span.parentSpanId().equals(PARENT));
    assertThat(reads.stream().mapToLong(SharedContextsIT::count).sum()).isEqualTo(READS);
  }

  @Test
  void contextsAreNotRead_threadIsNotObserved() {
    map.open();

    assertThat(reads(bridge(PUBLISH))).isEmpty();
    assertThat(reads(bridge())).isEmpty();
  }

  private static long count(SpanRecord span) {
    return span.attribute("inferspan.ebpf.count") instanceof Long count ? count : 1;
  }

  private List<SpanRecord> reads(EbpfBridge bridge) {
    tracing.clear();
    try (JavaChild child = JavaChild.start(List.of("/usr/bin/python3", "-c", READER), Map.of())) {
      map.publish(child.pid(), child.pid(), IDS);
      child.send("go");
      assertThat(child.line()).isEqualTo("done");
      bridge.close();
    }
    return tracing.spans().stream()
        .filter(span -> "otel_map".equals(span.attribute("inferspan.ebpf.source")))
        .filter(span -> SpanCatalog.unfolded(span.name()).equals("syscall.read"))
        .filter(span -> "unknown".equals(span.attribute("inferspan.ebpf.fd.kind")))
        .toList();
  }

  @Test
  void ownThread_isPublishedWhileASampledSpanIsCurrent() {
    JavaChild child = publisher();
    String[] in = child.line().split(" ", 3);
    assertThat(map.open().served(child.pid(), Long.parseLong(in[1]))).isEqualTo(in[2]);

    child.send("on");
    String[] out = child.line().split(" ", 3);
    assertThat(out[1]).isEqualTo(in[1]);
    assertThat(map.served(child.pid(), Long.parseLong(out[1]))).isNull();

    child.send("on");
    String[] open = child.line().split(" ", 3);
    assertThat(map.served(child.pid(), Long.parseLong(open[1]))).isEqualTo(open[2]);

    child.send("on");
    child.line();
    Eventually.is(
        "the end of the thread", () -> map.served(child.pid(), Long.parseLong(open[1])) == null);
    child.send("on");
    assertThat(child.line()).isEqualTo("closed");
  }

  @Test
  void killedPublisher_leavesTheMapAndNoEntry() {
    JavaChild child = publisher();
    long tid = Long.parseLong(child.line().split(" ", 3)[1]);
    assertThat(map.open().served(child.pid(), tid)).isNotNull();

    child.kill();

    Eventually.is("the removal of the entry", () -> map.served(child.pid(), tid) == null);
    assertThat(Files.exists(map.path())).isTrue();
  }

  @Test
  void recognisedRequest_isPublishedUntilItEnds() {
    EbpfBridge bridge = bridge(PUBLISH);
    JavaChild child = held(bridge);
    assertThat(map.open().served(child.pid(), child.pid())).isEqualTo(IDS);

    child.send("on");
    assertThat(child.line()).isEqualTo("out");
    assertThat(map.served(child.pid(), child.pid())).isNull();
  }

  @Test
  void closedBridge_removesItsEntriesAndLeavesTheMap() {
    EbpfBridge bridge = bridge(PUBLISH);
    JavaChild child = held(bridge);
    map.open().publish(1, 1, IDS);
    assertThat(map.served(child.pid(), child.pid())).isNotNull();

    bridge.close();

    assertThat(map.served(child.pid(), child.pid())).isNull();
    assertThat(map.served(1, 1)).as("another program's entry").isEqualTo(IDS);
    assertThat(Files.exists(map.path())).isTrue();
  }

  @Test
  void twoBridges_shareOneMap() {
    EbpfBridge first = bridge(PUBLISH);
    EbpfBridge second = bridge(READ, PUBLISH);
    assertThat(problemsOf(first)).isEmpty();
    assertThat(problemsOf(second)).isEmpty();
    first.close();

    JavaChild child = held(second);

    assertThat(map.open().served(child.pid(), child.pid())).isEqualTo(IDS);
  }

  @Test
  void entriesOfEndedThreads_areRemovedAtTheStart() {
    long gone = 99_999_999;
    map.open().publish(gone, gone, IDS);
    map.publish(1, 1, IDS);

    bridge(PUBLISH);

    assertThat(map.served(gone, gone)).isNull();
    assertThat(map.served(1, 1)).isEqualTo(IDS);
  }

  @Test
  void missingMap_isALimitationForAReader() {
    assertThat(problemsOf(bridge(READ)))
        .containsExactly("no other program has created it in " + map.directory());
    assertThat(Files.exists(map.path())).isFalse();
  }

  @Test
  void mapOfAnotherShape_isALimitationAndNotChanged() {
    map.makeOfAnotherShape();

    assertThat(problemsOf(bridge(READ, PUBLISH)))
        .singleElement()
        .asString()
        .contains(map.path() + " is a map of another type, key size or value size: remove it");
  }

  private static List<String> problemsOf(EbpfBridge bridge) {
    return bridge.status().programs().stream()
        .filter(program -> program.object().equals("otel"))
        .map(BridgeStatus.Program::problem)
        .toList();
  }

  private EbpfBridge bridge(ContextSharing... parts) {
    EnumSet<ContextSharing> sharing = EnumSet.noneOf(ContextSharing.class);
    sharing.addAll(List.of(parts));
    EbpfBridge bridge =
        kept(
            EbpfBridge.attach(
                Telemetry.using(tracing.openTelemetry()),
                TestKit.children().sharedContexts(sharing).bpfFilesystem(map.directory()).build()));
    assertThat(bridge.support()).isInstanceOf(EbpfSupport.Available.class);
    return bridge;
  }

  private JavaChild publisher() {
    return kept(
        JavaChild.start(
            SharingProcess.class,
            Map.of(
                "INFERSPAN_EBPF_SHARED_CONTEXTS", "publish",
                "INFERSPAN_EBPF_BPF_FILESYSTEM", map.directory().toString(),
                "INFERSPAN_EBPF_SCOPE", "own",
                "OTEL_TRACES_SAMPLER", "always_on",
                "OTEL_TRACES_EXPORTER", "none")));
  }

  /** Starts a program that reports by CKP which request it serves, and then waits for input. */
  private JavaChild held(EbpfBridge bridge) {
    String library = TestKit.directory().resolve("libinferspan_ckp.so").toString();
    String python = TestKit.script("../ckp").toString();
    JavaChild child =
        kept(JavaChild.start(List.of("/usr/bin/python3", "-c", HELD, library, python), Map.of()));
    assertThat(child.line()).isEqualTo("ready");
    TestKit.awaitLibrary(bridge, "libinferspan_ckp.so");
    child.send("in");
    assertThat(child.line()).isEqualTo("outer");
    return child;
  }

  private <T extends AutoCloseable> T kept(T resource) {
    opened.add(resource);
    return resource;
  }
}
