package io.inferspan.json;

/**
 * The type bits in the number of a {@link Grammar}'s node.
 *
 * <p>They select how a {@link JsonScanner} reports a value to the {@link JsonSink}; {@link
 * #NOTHING} skips it. The four lowest bits distinguish nodes of the same type. The numbers of
 * objects and arrays fit into one byte.
 */
public final class NodeType {

  public static final int NOTHING = 0;
  public static final int OBJECT = 0x10;
  public static final int LIST = 0x20;

  /** A string whose presence is reported, but not its text. */
  public static final int CONTENT = 0x40;

  /** A string that the {@link Grammar} maps to a meaning. */
  public static final int KEYWORD = 0x100;

  /** A string that is reported, truncated to {@link ShortText#MAX_BYTES}. */
  public static final int TEXT = 0x200;

  /** A non-negative integer. */
  public static final int COUNT = 0x400;

  /** A literal without quotes, such as {@code true}. */
  public static final int LITERAL = 0x800;

  /** A value whose bounds are reported. */
  public static final int RANGE = 0x1000;

  /** The document itself. */
  public static final int ROOT = OBJECT;

  /** The position outside of any document. */
  static final int OUTSIDE = LIST;

  private NodeType() {}

  static boolean isObject(int node) {
    return (node & OBJECT) != 0;
  }

  static boolean isList(int node) {
    return (node & LIST) != 0;
  }
}
