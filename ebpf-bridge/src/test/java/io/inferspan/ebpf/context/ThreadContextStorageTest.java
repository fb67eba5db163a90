package io.inferspan.ebpf.context;

import static io.inferspan.ebpf.context.TestContexts.sampled;
import static io.inferspan.ebpf.context.TestContexts.unsampled;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The contract for the replacement of OpenTelemetry's default storage, which must behave like it.
 */
class ThreadContextStorageTest extends ContextStorageContract {

  private final ContextStorage ours =
      PublishingContextStorage.over(ContextStorage.defaultStorage());
  private final ContextStorage theirs = ContextStorage.defaultStorage();

  ThreadContextStorageTest() {
    super(new ThreadContextStorage());
  }

  @Test
  void defaultStorage_isReplacedAndOthersAreWrapped() {
    assertThat(ours).isInstanceOf(ThreadContextStorage.class);
    assertThat(PublishingContextStorage.over(ours)).isInstanceOf(PublishingContextStorage.class);
    assertThat(ours.root()).isSameAs(theirs.root());
  }

  /** On a separate thread, since it leaves scopes open, as with the default storage. */
  @Test
  void misuse_hasTheSameResultAsWithTheDefaultStorage() throws Exception {
    try (ExecutorService another = Executors.newSingleThreadExecutor()) {
      another.submit(() -> useBoth(new Random(11))).get(30, TimeUnit.SECONDS);
    }
  }

  private void useBoth(Random random) {
    List<Context> contexts = List.of(sampled(1), sampled(2), unsampled(3), Context.root());
    List<Scope> oursOpen = new ArrayList<>();
    List<Scope> theirsOpen = new ArrayList<>();
    for (int step = 0; step < 5_000; step++) {
      if (oursOpen.isEmpty() || random.nextInt(3) > 0) {
        Context context = contexts.get(random.nextInt(contexts.size()));
        oursOpen.add(ours.attach(context));
        theirsOpen.add(theirs.attach(context));
      } else {
        int one = oursOpen.size() - 1 - random.nextInt(Math.min(oursOpen.size(), 5));
        oursOpen.get(one).close();
        theirsOpen.get(one).close();
      }
      assertThat(ours.current()).as("step %d of seed 11", step).isSameAs(theirs.current());
    }
  }

  @Test
  void nothingAndWhatIsCurrent_areNotAttached() {
    Context context = sampled(1);
    try (Scope scope = ours.attach(context)) {
      assertThat(ours.attach(context)).isSameAs(Scope.noop());
      assertThat(ours.attach(null)).isSameAs(Scope.noop());
    }
  }

  @Test
  void scopeClosedTwice_doesNotEndTheNextOneOfTheSameContext() {
    Context context = sampled(1);
    Scope first = ours.attach(context);
    first.close();
    try (Scope second = ours.attach(context)) {
      first.close();
      assertThat(ours.current()).isSameAs(context);
    }
  }
}
