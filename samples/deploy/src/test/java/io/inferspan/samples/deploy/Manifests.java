package io.inferspan.samples.deploy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The objects that {@code kustomization.yaml} combines. */
record Manifests(Yaml kustomization, List<Yaml> objects) {

  static final Path FOLDER = Path.of(".");

  /**
   * A container in a pod.
   *
   * @param pod the labels of its pod
   */
  record Container(Yaml yaml, Map<?, ?> pod) {

    String image() {
      return yaml.at("image").text();
    }

    List<String> args() {
      return yaml.at("args").texts();
    }

    /** Returns the arguments with other ports and hosts, for one machine without a cluster. */
    List<String> args(UnaryOperator<String> moved) {
      return args().stream().map(moved).toList();
    }

    Map<String, Yaml> env() {
      return yaml.at("env").items().stream()
          .collect(Collectors.toMap(entry -> entry.at("name").text(), entry -> entry));
    }

    /** Returns the container's ports by name, or by number if they have no name. */
    Map<String, String> ports() {
      return yaml.at("ports").items().stream()
          .collect(
              Collectors.toMap(
                  port -> port.at(port.at("name").isThere() ? "name" : "containerPort").text(),
                  port -> port.at("containerPort").text()));
    }
  }

  static Manifests read() throws IOException {
    Yaml kustomization = Yaml.documents(FOLDER.resolve("kustomization.yaml")).getFirst();
    List<Yaml> objects = new ArrayList<>();
    for (String file : kustomization.at("resources").texts()) {
      objects.addAll(Yaml.documents(FOLDER.resolve(file)));
    }
    return new Manifests(kustomization, objects);
  }

  List<Yaml> ofKind(String kind) {
    return objects.stream().filter(each -> each.at("kind").text().equals(kind)).toList();
  }

  /** Returns every object that creates pods. */
  List<Yaml> workloads() {
    return objects.stream().filter(each -> each.at("spec.template").isThere()).toList();
  }

  List<Container> containers() {
    return workloads().stream().flatMap(Manifests::containers).toList();
  }

  static Stream<Container> containers(Yaml workload) {
    Map<?, ?> labels = workload.at("spec.template.metadata.labels").map();
    Yaml pod = workload.at("spec.template.spec");
    return Stream.concat(
            pod.at("initContainers").items().stream(), pod.at("containers").items().stream())
        .map(container -> new Container(container, labels));
  }

  Container container(String image) {
    return containers().stream()
        .filter(each -> each.image().equals(image))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no container runs " + image));
  }
}
