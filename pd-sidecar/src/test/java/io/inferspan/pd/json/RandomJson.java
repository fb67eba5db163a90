package io.inferspan.pd.json;

import java.util.Random;

/** Generates valid but unusual JSON, the same for the same seed. */
public final class RandomJson {
  static final String[] KNOWN = {
    "kv_transfer_params", "stream", "stream_options", "max_tokens", "max_completion_tokens",
    "min_tokens", "max_output_tokens", "sampling_params", "cache_hit_threshold", "bootstrap_host",
    "bootstrap_port", "bootstrap_room", "messages", "usage", "store"
  };

  private static final String[] NUMBERS = {
    "0",
    "-0",
    "1E400",
    "-1e-7",
    "0.0000000000000000000000000000001",
    "9007199254740993",
    "5e1",
    "123456789012345678901234567890",
    "1.0",
    "-3.14159265358979323846264338327950288",
    "2.50e+00"
  };
  private static final String[] TEXTS = {
    "plain",
    "",
    "\\u0000",
    "\\\"",
    "\\\\",
    "\\/",
    "\\ud83d\\ude00",
    "a\\nb\\tc",
    "café",
    "日本語のテキスト",
    "😀",
    "\u2028",
    "\u007f",
    "{\\\"a\\\":1,",
    "}]",
    "str\\u0065am",
    "<&>"
  };
  private static final String[] SPACES = {"", "", "", "", " ", "\n  ", "\t", "\r\n"};

  private final Random random;
  private final int depth;
  private final StringBuilder json = new StringBuilder();

  /** Creates a generator with this seed, for containers nested at most {@code depth} deep. */
  public RandomJson(long seed, int depth) {
    this.depth = depth;
    random = new Random(seed);
  }

  /** Generates an object with known and unknown keys, some of them repeated, some escaped. */
  public String object() {
    json.setLength(0);
    space();
    object(depth);
    space();
    return json.toString();
  }

  private void object(int depth) {
    json.append('{');
    space();
    int members = random.nextInt(9);
    for (int i = 0; i < members; i++) {
      separate(i);
      key();
      space();
      json.append(':');
      space();
      value(depth - 1);
      space();
    }
    json.append('}');
  }

  private void array(int depth) {
    json.append('[');
    space();
    int elements = random.nextInt(5);
    for (int i = 0; i < elements; i++) {
      separate(i);
      value(depth - 1);
      space();
    }
    json.append(']');
  }

  private void separate(int i) {
    if (i > 0) {
      json.append(',');
      space();
    }
  }

  private void key() {
    if (random.nextInt(3) == 0) {
      text();
      return;
    }
    String known = KNOWN[random.nextInt(KNOWN.length)];
    json.append('"');
    int escaped = random.nextInt(4) == 0 ? random.nextInt(known.length()) : -1;
    for (int i = 0; i < known.length(); i++) {
      json.append(i == escaped ? String.format("\\u%04X", (int) known.charAt(i)) : known.charAt(i));
    }
    json.append('"');
  }

  private void value(int depth) {
    switch (random.nextInt(depth > 0 ? 8 : 5)) {
      case 0 -> json.append(random.nextBoolean());
      case 1 -> json.append("null");
      case 2 -> json.append(NUMBERS[random.nextInt(NUMBERS.length)]);
      case 3 -> json.append(random.nextLong());
      case 4 -> text();
      case 5 -> array(depth);
      case 6 -> deep();
      default -> object(depth);
    }
  }

  private void deep() {
    int levels = random.nextInt(10) == 0 ? random.nextInt(100) : random.nextInt(4);
    json.repeat('[', levels).append("{}").repeat(']', levels);
  }

  private void text() {
    json.append('"');
    int parts = random.nextInt(4);
    for (int i = 0; i < parts; i++) {
      json.append(TEXTS[random.nextInt(TEXTS.length)]);
    }
    json.append('"');
  }

  private void space() {
    json.append(SPACES[random.nextInt(SPACES.length)]);
  }
}
