package io.inferspan.ebpf.batch;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The layouts of vLLM V1's messages, by release. A message is an array of all fields of its class,
 * so the number of fields identifies the possible releases.
 */
final class FrameLayouts {

  /** Request ids have a random suffix from this number of fields on (release 0.14). */
  private static final int SUFFIXED = 16;

  private static final Pattern SAMPLE = Pattern.compile("^\\d+_(?=[a-z])");
  private static final Pattern SUFFIX = Pattern.compile("-[0-9a-f]{8}$");
  private static final Pattern SERVER = Pattern.compile("cmpl-(.+)-\\d+|[a-z]+-(.+)");

  /** The possible numbers of fields of an output, by the number of fields of a request. */
  private static final Map<Integer, List<Integer>> OUTPUTS =
      Map.ofEntries(
          Map.entry(10, List.of(7)), // 0.8.4, 0.8.5
          Map.entry(11, List.of(9)), // 0.9.0
          Map.entry(13, List.of(9)), // 0.9.1
          Map.entry(15, List.of(10, 11, 12)), // 0.9.2 to 0.10.1, 0.11.0 to 0.13
          Map.entry(14, List.of(11)), // 0.10.2
          Map.entry(16, List.of(13)), // 0.14
          Map.entry(17, List.of(13, 14)), // 0.15, 0.17 to 0.19.1
          Map.entry(18, List.of(14)), // 0.16
          Map.entry(20, List.of(13, 14)), // 0.23, 0.24
          Map.entry(21, List.of(14, 15, 16, 17)), // after 0.24
          Map.entry(22, List.of(16, 17, 18)));

  private FrameLayouts() {}

  static boolean isRequest(long fields) {
    return OUTPUTS.containsKey((int) fields);
  }

  static boolean fits(long requestFields, long outputFields) {
    return OUTPUTS.getOrDefault((int) requestFields, List.of()).contains((int) outputFields);
  }

  /** Returns the id that all parallel samples of a request share. */
  static String withoutSample(String engineId) {
    return SAMPLE.matcher(engineId).replaceFirst("");
  }

  /**
   * Returns the possible values of the client's {@code x-request-id}, the most likely first: the
   * random suffix can be disabled, and a client's own id can look as if it had one.
   */
  static List<String> clientIds(String engineId, long requestFields) {
    List<String> ids = new ArrayList<>();
    String whole = withoutSample(engineId);
    if (requestFields >= SUFFIXED && SUFFIX.matcher(whole).find()) {
      addClientId(SUFFIX.matcher(whole).replaceFirst(""), ids);
    }
    addClientId(whole, ids);
    return ids;
  }

  private static void addClientId(String serverId, List<String> ids) {
    Matcher matcher = SERVER.matcher(serverId);
    if (matcher.matches()) {
      ids.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
    }
  }
}
