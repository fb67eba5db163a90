package io.inferspan.json;

/**
 * A place in a JSON document: a number whose bits select what is read there. Other values are
 * skipped.
 *
 * <p>Places that contain others fit into a byte, and the four lowest bits distinguish places of one
 * kind.
 */
public final class Places {

  public static final int NOTHING = 0;
  public static final int OBJECT = 0x10;
  public static final int LIST = 0x20;

  /** A text whose presence is reported. */
  public static final int CONTENT = 0x40;

  /** A text whose meaning is defined by the {@link Grammar}. */
  public static final int WORD = 0x100;

  /** A text whose beginning is reported. */
  public static final int TEXT = 0x200;

  public static final int COUNT = 0x400;

  /** A bare word. */
  public static final int MARK = 0x800;

  /** A value whose position is reported. */
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
