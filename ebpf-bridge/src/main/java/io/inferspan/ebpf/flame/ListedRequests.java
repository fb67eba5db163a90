package io.inferspan.ebpf.flame;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Requests from a file, such as the export of a tracing backend: each line has a trace id,
 * milliseconds and optionally a model.
 *
 * @param millis the duration of each request by trace id; the longest if several have the same
 *     trace
 * @param models the model by trace id, for lines that name one
 */
public record ListedRequests(Map<String, Double> millis, Map<String, String> models) {

  private static final Pattern TRACE = Pattern.compile("[0-9a-f]{32}(?=[ \\t,;])");
  private static final Pattern MILLIS =
      Pattern.compile("[ \\t,;]+([0-9]{1,12}(?:\\.[0-9]{1,9})?)(?:[ \\t,;]+(\\S.*?))?\\s*");

  private static final int MAX_NAMED = 5;

  /** Reads the list; a format error states its line and column. */
  public static ListedRequests read(BufferedReader text) throws IOException {
    Map<String, Double> millis = new HashMap<>();
    Map<String, String> models = new HashMap<>();
    int number = 0;
    for (String line = text.readLine(); line != null; line = text.readLine()) {
      number++;
      if (line.isBlank() || line.startsWith("#")) {
        continue;
      }
      Matcher trace = TRACE.matcher(line);
      if (!trace.lookingAt()) {
        throw new StackFormatException(number, 1, "a trace id of 32 hexadecimal digits");
      }
      Matcher length = MILLIS.matcher(line).region(trace.end(), line.length());
      if (!length.matches()) {
        throw new StackFormatException(number, trace.end() + 1L, "milliseconds after the trace id");
      }
      millis.merge(trace.group(), Double.valueOf(length.group(1)), Math::max);
      if (length.group(2) != null) {
        models.put(trace.group(), length.group(2));
      }
    }
    return new ListedRequests(millis, models);
  }

  /** Returns the requests of one model; throws if there are none. */
  public ListedRequests ofModel(String model) throws IOException {
    Map<String, Double> chosen = new HashMap<>(millis);
    chosen.keySet().removeIf(trace -> !model.equals(models.get(trace)));
    if (chosen.isEmpty()) {
      List<String> known = models.values().stream().distinct().sorted().limit(MAX_NAMED).toList();
      throw new IOException(
          known.isEmpty()
              ? "no line in the list of requests has a model, so none can be selected"
              : "no request has the model %s; models in the list: %s"
                  .formatted(model, String.join(", ", known)));
    }
    return new ListedRequests(chosen, models);
  }

  /** Returns the stacks of these requests, without the first frame, which names the trace. */
  public StackCounts stacks(StackCounts counts) {
    StackCounts sum = new StackCounts(counts.unit());
    counts
        .byTrace()
        .forEach(
            (trace, stacks) -> {
              if (millis.containsKey(trace)) {
                sum.addAll(stacks);
              }
            });
    return sum;
  }
}
