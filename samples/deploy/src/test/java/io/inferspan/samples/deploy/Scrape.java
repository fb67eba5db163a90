package io.inferspan.samples.deploy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metric names in a scrape, each with its labels. */
record Scrape(Map<String, Set<String>> labelsByName) {

  private static final Pattern SAMPLE = Pattern.compile("^([a-z_0-9:]+)(?:\\{(.*)})? [^ ]+$");
  private static final Pattern LABEL = Pattern.compile("([a-z_A-Z0-9]+)=\"(?:[^\"\\\\]|\\\\.)*\"");

  static Scrape of(String... texts) {
    Map<String, Set<String>> names = new HashMap<>();
    for (String text : texts) {
      text.lines().forEach(line -> read(line, names));
    }
    return new Scrape(names);
  }

  private static void read(String line, Map<String, Set<String>> names) {
    Matcher sample = SAMPLE.matcher(line);
    if (sample.matches()) {
      Set<String> labels = names.computeIfAbsent(sample.group(1), name -> new HashSet<>());
      if (sample.group(2) != null) {
        LABEL.matcher(sample.group(2)).results().forEach(label -> labels.add(label.group(1)));
      }
    }
  }
}
