package io.inferspan.samples.springboot;

import io.inferspan.samples.ondesk.DeskProcess.Collector;
import io.inferspan.samples.ondesk.OnTheDeskContract;
import org.springframework.context.ConfigurableApplicationContext;

class OnTheDeskIT extends OnTheDeskContract {

  @Override
  protected Gateway start(String engine, Collector collector) {
    ConfigurableApplicationContext context =
        SpringGatewayTest.start(
            engine, collector.httpTraces(), "--management.tracing.sampling.probability=1");
    return new Gateway() {

      @Override
      public int port() {
        return SpringGatewayTest.port(context);
      }

      @Override
      public void close() {
        context.close();
      }
    };
  }
}
