package io.inferspan.pd.upstream;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.net.Loops;
import io.inferspan.pd.rig.Cleanliness;
import io.inferspan.pd.rig.FreePort;
import io.inferspan.pd.telemetry.ConnectionMeters;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.channel.EventLoop;
import io.vertx.core.internal.VertxInternal;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests that a name with several addresses fails with the most specific error. */
@ExtendWith(Cleanliness.class)
final class UpstreamsTest {
  private static final Target TARGET = new Target("engine", 8200);
  private static final InetSocketAddress UNREACHABLE =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), FreePort.next());

  /** An address to which the kernel refuses to open TCP connections. */
  private static final InetSocketAddress NO_ROUTE = new InetSocketAddress("255.255.255.255", 80);

  /** The number of the resource in Linux's {@code getrlimit}. */
  private static final int OPEN_FILES = 7;

  private final Loops loops = Loops.start("nio", 1);

  @AfterEach
  void stop() {
    loops.close();
  }

  private Kind failure(InetSocketAddress... addresses) throws Exception {
    CompletableFuture<Kind> failed = new CompletableFuture<>();
    EventLoop loop = ((VertxInternal) loops.vertx()).nettyEventLoopGroup().next();
    Upstreams engines =
        new Upstreams(
            loops,
            new Upstreams.Settings(null, 1, Upstreams.IDLE_LIMIT, 1024, new ConnectionMeters()));
    EngineCall call =
        Get.of(
            TARGET,
            answer -> {
              assertThat(loop.inEventLoop()).isTrue();
              failed.complete(Objects.requireNonNull(answer.failure()).kind());
            });
    loop.execute(() -> engines.connect(loop, new ArrayDeque<>(List.of(addresses)), TARGET, call));
    try {
      return failed.get(10, TimeUnit.SECONDS);
    } finally {
      engines.close();
    }
  }

  @Test
  void refusalOfOneAddress_isReportedAsRefused() throws Exception {
    assertThat(failure(UNREACHABLE, NO_ROUTE)).isEqualTo(Kind.REFUSED);
    assertThat(failure(NO_ROUTE, UNREACHABLE)).isEqualTo(Kind.REFUSED);
    assertThat(failure(NO_ROUTE, UNREACHABLE, NO_ROUTE)).isEqualTo(Kind.REFUSED);
  }

  @Test
  void withoutRefusal_lastFailureIsReported() throws Exception {
    assertThat(failure(NO_ROUTE, NO_ROUTE)).isEqualTo(Kind.UNREACHABLE);
    assertThat(failure()).isEqualTo(Kind.UNREACHABLE);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void lackOfFileDescriptors_isReportedOnTheEventLoop() throws Throwable {
    // Classes are loaded then, which needs file descriptors.
    assertThat(failure(UNREACHABLE)).isEqualTo(Kind.REFUSED);
    long most = openFiles(1);
    try {
      assertThat(failure(UNREACHABLE)).isEqualTo(Kind.UNREACHABLE);
    } finally {
      openFiles(most);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void loopThatFirstResolvesWithoutFileDescriptors_stops() throws Throwable {
    try (Loops others = Loops.start("nio", 1)) {
      // Loads the classes, which needs file descriptors.
      resolveLocalhost(others);
    }
    long most = openFiles(1);
    try {
      resolveLocalhost(loops);
    } finally {
      openFiles(most);
    }
  }

  private static void resolveLocalhost(Loops loops) throws Exception {
    EventLoop loop = ((VertxInternal) loops.vertx()).nettyEventLoopGroup().next();
    assertThat(
            loops
                .names()
                .getResolver(loop)
                .resolve(InetSocketAddress.createUnresolved("localhost", 1))
                .get(10, TimeUnit.SECONDS)
                .getAddress()
                .isLoopbackAddress())
        .isTrue();
  }

  /** Sets the limit of open files of this process; returns the limit before. */
  private static long openFiles(long limit) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limits = arena.allocate(JAVA_LONG, 2);
      call("getrlimit", limits);
      long before = limits.getAtIndex(JAVA_LONG, 0);
      limits.setAtIndex(JAVA_LONG, 0, limit);
      call("setrlimit", limits);
      return before;
    }
  }

  @SuppressWarnings("restricted")
  private static void call(String function, MemorySegment limits) throws Throwable {
    Linker linker = Linker.nativeLinker();
    int result =
        (int)
            linker
                .downcallHandle(
                    linker.defaultLookup().findOrThrow(function),
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS))
                .invokeExact(OPEN_FILES, limits);
    assertThat(result).isZero();
  }
}
