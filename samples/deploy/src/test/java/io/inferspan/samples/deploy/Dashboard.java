package io.inferspan.samples.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The queries of the dashboard. */
final class Dashboard {

  private static final Pattern METRIC =
      Pattern.compile("(?<![\\w])(?:gen_ai_(?:server|client)|llm_d|inferspan)_[a-z0-9_]+");
  private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\)");
  private static final Pattern MATCHER = Pattern.compile("\\{([a-z_]+)=");

  /** Labels that Prometheus itself adds. */
  private static final Set<String> ADDED = Set.of("instance", "job");

  private Dashboard() {}

  /**
   * A query.
   *
   * @param panel the title of its panel
   */
  record Query(String panel, String text) {

    /** Returns the metrics in the query. */
    Set<String> metrics() {
      Set<String> names = new HashSet<>();
      METRIC.matcher(text).results().forEach(found -> names.add(found.group()));
      return names;
    }

    /** Returns the labels that all of these metrics need. */
    Set<String> labels() {
      Set<String> labels = new HashSet<>();
      for (Matcher by = BY.matcher(text); by.find(); ) {
        labels.addAll(List.of(by.group(1).split(",\\s*", -1)));
      }
      MATCHER.matcher(text).results().forEach(found -> labels.add(found.group(1)));
      labels.removeAll(ADDED);
      return labels;
    }
  }

  static List<Query> queries() throws IOException {
    JsonNode dashboard =
        new ObjectMapper().readTree(Manifests.FOLDER.resolve("grafana/inferspan.json").toFile());
    List<Query> queries = new ArrayList<>();
    for (JsonNode panel : dashboard.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        queries.add(new Query(panel.path("title").asText(), target.path("expr").asText()));
      }
    }
    return queries;
  }
}
