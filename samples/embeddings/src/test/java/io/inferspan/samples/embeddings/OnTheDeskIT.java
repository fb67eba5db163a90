package io.inferspan.samples.embeddings;

import io.inferspan.samples.embeddings.RunningProgram.Command;
import io.inferspan.samples.ondesk.DeskProcess.Collector;
import io.inferspan.samples.ondesk.OnTheDeskContract;
import org.junit.jupiter.api.Nested;

class OnTheDeskIT {

  @Nested
  class OfThePlainGateway extends OnTheDeskContract {

    @Override
    protected Gateway start(String engine, Collector collector) throws Exception {
      return Command.of(PlainGateway.class).start(engine, collector.grpc());
    }
  }

  @Nested
  class OfTheVertxGateway extends OnTheDeskContract {

    @Override
    protected Gateway start(String engine, Collector collector) throws Exception {
      return Command.of(VertxProxyGateway.class).start(engine, collector.grpc());
    }
  }

  @Nested
  class OfTheNettyGateway extends OnTheDeskContract {

    @Override
    protected Gateway start(String engine, Collector collector) throws Exception {
      return Command.of(NettyGateway.class).start(engine, collector.grpc());
    }
  }
}
