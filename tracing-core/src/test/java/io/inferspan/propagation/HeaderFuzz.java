package io.inferspan.propagation;

import java.util.Locale;
import java.util.Random;

/** Generates headers: valid, slightly broken, and random. */
final class HeaderFuzz {

  static final String VALID_TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  private static final String HEX = "0123456789abcdef";
  private static final String KEY_CHARS = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
  private static final String ODD_CHARS =
      "-=,;%@ \t\"\\\u0000\u007f\u0080\u00e9\u0660\uff10\ud83d\ude00\n\rABCxyz019_*/";

  private final Random random;

  HeaderFuzz(Random random) {
    this.random = random;
  }

  String traceparent() {
    return switch (random.nextInt(8)) {
      case 0 -> noise(random.nextInt(80));
      case 1 -> validTraceparent().toUpperCase(Locale.ROOT);
      case 2, 3 -> validTraceparent();
      default -> mutated(validTraceparent());
    };
  }

  String tracestate() {
    return switch (random.nextInt(8)) {
      case 0 -> noise(random.nextInt(80));
      case 1 -> validTracestate() + "," + validTracestate();
      case 2, 3, 4 -> validTracestate();
      default -> mutated(validTracestate());
    };
  }

  String baggage() {
    return switch (random.nextInt(4)) {
      case 0 -> noise(random.nextInt(200));
      case 1 -> validBaggage();
      default -> mutated(validBaggage());
    };
  }

  String validTraceparent() {
    String version = random.nextInt(4) == 0 ? hex(2).replace("ff", "fe") : "00";
    String rest = !version.equals("00") && random.nextBoolean() ? "-" + word(4) : "";
    return version + "-" + id(32) + "-" + id(16) + "-" + "0" + random.nextInt(4) + rest;
  }

  String validTracestate() {
    StringBuilder header = new StringBuilder();
    int members = 1 + random.nextInt(3);
    for (int i = 0; i < members; i++) {
      String key = "k" + i + word(random.nextInt(8));
      String tenant = random.nextInt(4) == 0 ? "@s" + word(3) : "";
      header.append(i == 0 ? "" : ",").append(key).append(tenant).append('=').append(value());
    }
    return header.toString();
  }

  private String value() {
    StringBuilder value = new StringBuilder("v");
    for (int i = random.nextInt(12); i > 0; i--) {
      char c = (char) ('!' + random.nextInt('~' - '!' + 1));
      value.append(c == ',' || c == '=' ? '.' : c);
    }
    return value.toString();
  }

  private String validBaggage() {
    String properties = random.nextBoolean() ? ";p=" + word(3) + ";q" : "";
    return "k" + word(5) + "=" + word(8) + "%20" + properties + ",l=" + word(3);
  }

  private String id(int digits) {
    return hex(digits - 1) + "1";
  }

  private String hex(int digits) {
    return chars(HEX, digits);
  }

  private String word(int length) {
    return chars(KEY_CHARS, length);
  }

  private String chars(String alphabet, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  /** Returns the header after one to three random edits. */
  private String mutated(String valid) {
    StringBuilder text = new StringBuilder(valid);
    for (int edits = 1 + random.nextInt(3); edits > 0 && text.length() > 0; edits--) {
      int at = random.nextInt(text.length());
      switch (random.nextInt(6)) {
        case 0 -> text.deleteCharAt(at);
        case 1 -> text.insert(at, odd());
        case 2 -> text.setLength(at);
        case 3 -> text.append(odd());
        case 4 -> text.setCharAt(at, HEX.charAt(random.nextInt(HEX.length())));
        default -> text.setCharAt(at, odd());
      }
    }
    return text.toString();
  }

  private char odd() {
    return ODD_CHARS.charAt(random.nextInt(ODD_CHARS.length()));
  }

  private String noise(int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(random.nextBoolean() ? odd() : (char) random.nextInt(0x10000));
    }
    return text.toString();
  }
}
