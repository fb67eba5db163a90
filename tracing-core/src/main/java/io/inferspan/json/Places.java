package io.inferspan.json;

/**
 * Bits of a place, which is the state of a {@link JsonScanner} for one value of a document. They
 * select how the value is reported to the {@link JsonSink}; {@link #NOTHING} skips it.
 *
 * <p>The four lowest bits distinguish places of the same kind. Objects and arrays fit into one
 * byte.
 */
public final class Places {

  public static final int NOTHING = 0;
  public static final int OBJECT = 0x10;
  public static final int LIST = 0x20;

  /** A string of which only the presence is reported. */
  public static final int CONTENT = 0x40;

  /** A string that the {@link Grammar} maps to a meaning. */
  public static final int WORD = 0x100;

  /** A string that is reported, truncated to {@link ShortText#MAX_BYTES}. */
  public static final int TEXT = 0x200;

  /** An integer that is not negative. */
  public static final int COUNT = 0x400;

  /** A literal without quotes, such as {@code true}. */
  public static final int MARK = 0x800;

  /** A value whose bounds are reported. */
  public static final int RANGE = 0x1000;

  /** The document itself. */
  public static final int ROOT = OBJECT;

  /** Outside of any document. */
  static final int NOWHERE = LIST;

  private Places() {}

  static boolean isObject(int place) {
    return (place & OBJECT) != 0;
  }

  static boolean isList(int place) {
    return (place & LIST) != 0;
  }
}
