package io.inferspan.samples.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.samples.deploy.Manifests.Container;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks the references between the manifests. */
class ManifestsTest {

  private final Manifests manifests = Manifests.read();

  ManifestsTest() throws IOException {}

  @Test
  void objects_haveOneNameEach() {
    assertThat(manifests.objects())
        .extracting(each -> each.at("kind").text() + "/" + each.at("metadata.name").text())
        .doesNotHaveDuplicates()
        .contains(
            "Deployment/llm-gateway",
            "StatefulSet/vllm-decode",
            "DaemonSet/inferspan-ebpf-agent",
            "Deployment/otel-collector");
  }

  @Test
  void workloads_selectTheirOwnPods() {
    for (Yaml workload : manifests.workloads()) {
      Map<?, ?> selected = workload.at("spec.selector.matchLabels").map();

      assertThat(entries(workload.at("spec.template.metadata.labels").map()))
          .as(workload.where())
          .containsAll(entries(selected));
    }
  }

  @Test
  void services_reachAPortOfAPod() {
    for (Yaml service : manifests.ofKind("Service")) {
      List<Container> behind =
          manifests.containers().stream()
              .filter(
                  each ->
                      each.pod().entrySet().containsAll(entries(service.at("spec.selector").map())))
              .toList();
      for (Yaml port : service.at("spec.ports").items()) {
        assertThat(behind)
            .as("%s, port %s", service.at("metadata.name").text(), port)
            .anySatisfy(each -> assertThat(each.ports()).containsKey(port.at("targetPort").text()));
      }
    }
  }

  @Test
  void probesAndScrapes_useDeclaredPorts() {
    for (Yaml workload : manifests.workloads()) {
      List<Container> containers = Manifests.containers(workload).toList();
      for (Container container : containers) {
        for (String probe : List.of("readinessProbe", "startupProbe", "livenessProbe")) {
          Yaml port = container.yaml().at(probe + ".httpGet.port");
          if (port.isThere()) {
            assertThat(container.ports()).containsKey(port.text());
          }
        }
      }
      Yaml annotations = workload.at("spec.template.metadata.annotations");
      if (annotations.isThere()) {
        Object scraped = annotations.map().get("prometheus.io/port");
        assertThat(containers)
            .anySatisfy(each -> assertThat(each.ports()).containsValue(String.valueOf(scraped)));
      }
    }
  }

  @Test
  void hosts_areServicesOfTheManifests() {
    Set<String> services =
        manifests.ofKind("Service").stream()
            .map(each -> each.at("metadata.name").text())
            .collect(Collectors.toSet());
    List<String> named = new ArrayList<>();
    for (Container container : manifests.containers()) {
      Yaml endpoint = container.env().get("OTEL_EXPORTER_OTLP_ENDPOINT");
      if (endpoint != null) {
        named.add(URI.create(endpoint.at("value").text()).getHost());
      }
    }
    for (String arg : manifests.container("inferspan-vertx-gateway").args()) {
      if (arg.startsWith("--decode=") || arg.startsWith("--prefill=")) {
        String host = URI.create("http://" + arg.substring(arg.indexOf('=') + 1)).getHost();
        // The host of a StatefulSet's pod: the pod's name, then the service's.
        named.add(host.substring(host.indexOf('.') + 1));
      }
    }

    assertThat(named).hasSizeGreaterThanOrEqualTo(5);
    assertThat(services).containsAll(named);
  }

  @Test
  void kustomization_namesExistingFilesAndImages() {
    Yaml kustomization = manifests.kustomization();
    List<String> files = new ArrayList<>(kustomization.at("resources").texts());
    kustomization
        .at("configMapGenerator")
        .items()
        .forEach(map -> files.addAll(map.at("files").texts()));

    assertThat(files).allSatisfy(file -> assertThat(Manifests.FOLDER.resolve(file)).exists());
    assertThat(manifests.containers())
        .extracting(Container::image)
        .containsAll(
            kustomization.at("images").items().stream()
                .map(each -> each.at("name").text())
                .toList());
  }

  @Test
  void collectorPipelines_useOnlyDeclaredComponents() throws IOException {
    Yaml config = Yaml.documents(Manifests.FOLDER.resolve("collector-config.yaml")).getFirst();
    Yaml pipeline = config.at("service.pipelines.traces");

    for (String kind : List.of("receivers", "processors", "exporters")) {
      assertThat(pipeline.at(kind).texts()).isNotEmpty();
      assertThat(keys(config.at(kind))).containsAll(pipeline.at(kind).texts());
    }
    assertThat(keys(config.at("extensions"))).containsAll(config.at("service.extensions").texts());
    Container collector = manifests.container("otel/opentelemetry-collector:0.140.0");
    for (String protocol : List.of("grpc", "http")) {
      String endpoint = config.at("receivers.otlp.protocols." + protocol + ".endpoint").text();
      assertThat(collector.ports())
          .containsEntry("otlp-" + protocol, endpoint.substring(endpoint.indexOf(':') + 1));
    }
    String text = Files.readString(Manifests.FOLDER.resolve("collector-config.yaml"));
    assertThat(collector.env().keySet())
        .allSatisfy(name -> assertThat(text).contains("${env:" + name + "}"));
  }

  private static Set<Map.Entry<Object, Object>> entries(Map<?, ?> map) {
    return Map.<Object, Object>copyOf(map).entrySet();
  }

  private static List<String> keys(Yaml map) {
    return map.map().keySet().stream().map(String::valueOf).toList();
  }
}
