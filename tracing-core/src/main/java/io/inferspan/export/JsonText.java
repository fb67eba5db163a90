package io.inferspan.export;

/** Writes JSON into a string, as far as OTLP needs it. */
final class JsonText {

  private final StringBuilder out;
  private boolean first = true;

  JsonText(StringBuilder out) {
    this.out = out;
  }

  JsonText open(char bracket) {
    separate();
    out.append(bracket);
    first = true;
    return this;
  }

  JsonText close(char bracket) {
    out.append(bracket);
    first = false;
    return this;
  }

  JsonText name(String name) {
    separate();
    quote(name);
    out.append(':');
    first = true;
    return this;
  }

  JsonText text(String value) {
    separate();
    quote(value);
    return this;
  }

  /** A 64-bit number, which JSON readers would round, so that OTLP has it as text. */
  JsonText longText(long value) {
    separate();
    out.append('"').append(value).append('"');
    return this;
  }

  JsonText number(long value) {
    separate();
    out.append(value);
    return this;
  }

  JsonText number(double value) {
    if (Double.isFinite(value)) {
      separate();
      out.append(value);
      return this;
    }
    return text(Double.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }

  JsonText flag(boolean value) {
    separate();
    out.append(value);
    return this;
  }

  private void separate() {
    if (!first) {
      out.append(',');
    }
    first = false;
  }

  private void quote(String value) {
    out.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (c < 0x20 || Character.isSurrogate(c) || c == 0x7f) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }
}
