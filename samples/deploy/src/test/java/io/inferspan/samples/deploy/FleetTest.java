package io.inferspan.samples.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks that the fleet's collectors fit each other, and have the capacity that they promise. */
class FleetTest {

  private static final Path FOLDER = Manifests.FOLDER.resolve("fleet");

  private final Yaml component = only("kustomization.yaml");
  private final Yaml router = only("collector-config.yaml");
  private final Yaml sampler = only("sampler-config.yaml");
  private final List<Yaml> objects = Yaml.documents(FOLDER.resolve("samplers.yaml"));

  FleetTest() throws IOException {}

  private static Yaml only(String file) throws IOException {
    return Yaml.documents(FOLDER.resolve(file)).getFirst();
  }

  @Test
  void pipelines_useOnlyDeclaredComponents() {
    for (Yaml config : List.of(router, sampler)) {
      Yaml pipeline = config.at("service.pipelines.traces");
      for (String kind : List.of("receivers", "processors", "exporters")) {
        assertThat(config.at(kind).map().keySet().stream().map(String::valueOf))
            .as("%s of %s", kind, config.where())
            .containsExactlyInAnyOrderElementsOf(pipeline.at(kind).texts());
      }
    }
  }

  @Test
  void router_findsAllSamplersByTheirHeadlessService() {
    Yaml resolver = router.at("exporters.loadbalancing.resolver.dns");
    Yaml workload = objects.getFirst();
    Yaml service = objects.getLast();

    assertThat(router.at("exporters.loadbalancing.routing_key").text()).isEqualTo("traceID");
    assertThat(service.at("metadata.name").text()).isEqualTo(resolver.at("hostname").text());
    assertThat(service.at("spec.clusterIP").text()).isEqualTo("None");
    assertThat(service.at("spec.ports").items().getFirst().at("port").text())
        .isEqualTo(resolver.at("port").text());
    assertThat(service.at("spec.selector").map())
        .isEqualTo(workload.at("spec.selector.matchLabels").map())
        .isEqualTo(workload.at("spec.template.metadata.labels").map());
    assertThat(sampler.at("receivers.otlp.protocols.grpc.endpoint").text())
        .endsWith(":" + resolver.at("port").text());
  }

  @Test
  void component_changesObjectsOfTheBase() throws IOException {
    Manifests manifests = Manifests.read();
    List<String> configs =
        component.at("configMapGenerator").items().stream()
            .flatMap(map -> map.at("files").texts().stream())
            .toList();

    assertThat(configs).allSatisfy(file -> assertThat(FOLDER.resolve(file)).exists());
    assertThat(manifests.kustomization().at("configMapGenerator").items())
        .extracting(map -> map.at("name").text())
        .contains(component.at("configMapGenerator").items().getFirst().at("name").text());
    Yaml image = component.at("images").items().getFirst();
    assertThat(manifests.container(image.at("name").text() + ":0.140.0").args().getFirst())
        .endsWith("/" + configs.getFirst());
    assertThat(Manifests.containers(objects.getFirst()))
        .extracting(Manifests.Container::image)
        .containsExactly(image.at("newName").text() + ":" + image.at("newTag").text());
  }

  /**
   * The load per second: 100,000 requests, of which the gateway samples 10 %, and 50,000 steps, of
   * which the agents sample 1 %.
   */
  @Test
  void samplers_haveRoomForAllTracesWithinTheDecisionWait() {
    Yaml sampling = sampler.at("processors.tail_sampling");
    long perSecond = Long.parseLong(sampling.at("expected_new_traces_per_sec").text());
    long seconds = Long.parseLong(sampling.at("decision_wait").text().replace("s", ""));
    Yaml replicas = component.at("replicas").items().getLast();

    assertThat(replicas.at("name").text()).isEqualTo("otel-sampler");
    assertThat(perSecond * Long.parseLong(replicas.at("count").text()))
        .isGreaterThanOrEqualTo(100_000 / 10 + 50_000 / 100);
    assertThat(Long.parseLong(sampling.at("num_traces").text()))
        .isGreaterThan(perSecond * seconds * 5 / 4);
  }
}
