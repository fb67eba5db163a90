package io.inferspan.ebpf.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The numbers of system calls are those of the BPF programs, on both architectures. */
class CallNumberTest {

  private static final Path NUMBERS = Path.of("../bpf/include/numbers.h");
  private static final Path CALLS = Path.of("../bpf/include");
  private static final Pattern NUMBER = Pattern.compile("NR_(\\w+) = (\\d+)");
  private static final Pattern REPORTED = Pattern.compile("case NR_(\\w+):");

  @Test
  void names_areThoseOfTheHeaders() throws Exception {
    Assumptions.assumeTrue(Files.exists(NUMBERS), "bpf/include is not next to this module");
    String[] architectures = Files.readString(NUMBERS).split("#else", 2);

    assertThat(known("amd64")).containsAllEntriesOf(reported(architectures[0]));
    assertThat(known("aarch64")).containsAllEntriesOf(reported(architectures[1]));
  }

  /** Returns the system calls that the programs report, by their numbers on an architecture. */
  private static Map<Integer, String> reported(String architecture) throws Exception {
    Map<String, Integer> numbers = new TreeMap<>();
    Matcher number = NUMBER.matcher(architecture);
    while (number.find()) {
      numbers.put(number.group(1), Integer.valueOf(number.group(2)));
    }
    String kindOf = Files.readString(CALLS.resolve("descriptors.h"));
    int from = kindOf.indexOf("u32 kind_of(");
    Matcher call = REPORTED.matcher(kindOf.substring(from, kindOf.indexOf("\n}", from)));
    Map<Integer, String> calls = new TreeMap<>();
    while (call.find()) {
      if (numbers.containsKey(call.group(1))) {
        calls.put(numbers.get(call.group(1)), call.group(1));
      }
    }
    assertThat(calls).hasSizeGreaterThan(20);
    return calls;
  }

  private static Map<Integer, String> known(String architecture) {
    Map<Integer, String> known = new TreeMap<>();
    @Nullable String[] names = CallNumber.names(architecture);
    for (int i = 0; i < names.length; i++) {
      String name = names[i];
      if (name != null) {
        known.put(i, name);
      }
    }
    return known;
  }

  @Test
  void invalidNumber_hasNoName() {
    assertThat(CallNumber.name(0)).isNull();
    assertThat(CallNumber.name(-1)).isNull();
    assertThat(CallNumber.name(1L << 40)).isNull();
    assertThat(CallNumber.name(512)).isNull();
  }
}
