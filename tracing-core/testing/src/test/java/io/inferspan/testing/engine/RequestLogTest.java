package io.inferspan.testing.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestLogTest {
  private final FakeEngine engine = FakeEngine.start();

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void onlyTheNewest_areKeptWhileAllAreCounted() throws Exception {
    List<EngineRequest> five = fiveRequests();
    RequestLog log = new RequestLog(3, Long.MAX_VALUE);
    five.forEach(log::add);

    assertThat(log.list()).containsExactlyElementsOf(five.subList(2, 5));
    assertThat(log.seen()).isEqualTo(5);
    assertThat(log.await(5, Duration.ZERO)).hasSize(3);
  }

  @Test
  void bytes_areBoundedTooButTheNewestAlwaysStays() throws Exception {
    List<EngineRequest> five = fiveRequests();
    RequestLog two = new RequestLog(100, 8);
    RequestLog none = new RequestLog(100, 0);
    five.forEach(two::add);
    five.forEach(none::add);

    assertThat(two.list()).containsExactlyElementsOf(five.subList(3, 5));
    assertThat(none.list()).containsExactly(five.get(4));
    two.clear();
    two.add(five.get(0));
    two.add(five.get(1));
    assertThat(two.list()).hasSize(2);
  }

  private List<EngineRequest> fiveRequests() throws Exception {
    for (int i = 0; i < 5; i++) {
      EngineClient.post(engine, "/any", "1234");
    }
    return engine.awaitRequests(5, EngineClient.LIMIT);
  }
}
