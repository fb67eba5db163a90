package io.inferspan.pd.config.text;

/** A number of bytes: {@code 65536}, {@code 64KiB}, {@code 64MiB} or {@code 1GiB}. */
public final class ByteSize {

  private ByteSize() {}

  /** Reads {@code text} into bytes. */
  public static long parse(String text) throws TextException {
    long unit = unit(text);
    String number = unit == 1 ? text : text.substring(0, text.length() - 3);
    try {
      return Math.multiplyExact(GoWords.whole(number.strip()), unit);
    } catch (ArithmeticException e) {
      throw new TextException("too large a size");
    }
  }

  private static long unit(String text) {
    if (text.endsWith("KiB")) {
      return 1L << 10;
    }
    if (text.endsWith("MiB")) {
      return 1L << 20;
    }
    return text.endsWith("GiB") ? 1L << 30 : 1;
  }
}
