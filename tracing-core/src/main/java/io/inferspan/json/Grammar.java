package io.inferspan.json;

/**
 * A state machine that selects the values that a {@link JsonScanner} reports. Its states are {@link
 * Places}, and an object key leads from one place to the next. Do not change a grammar after its
 * first use.
 */
public final class Grammar {

  private static final int SLOTS = 256;
  private static final int LISTS = 16;

  private final long[] hashes = new long[SLOTS];
  private final int[] places = new int[SLOTS];
  private final int[] elements = new int[LISTS];
  private int rootList = Places.NOTHING;

  /** Creates a grammar that selects no value. */
  public Grammar() {}

  /**
   * Adds a transition from the object {@code from} to the place {@code to} for each of these keys.
   * If {@code from} is a {@link Places#WORD}, maps each of these strings to the meaning {@code to}.
   */
  public Grammar put(int from, int to, String... keys) {
    for (String key : keys) {
      long hash = joined(from, Word.numberOf(key));
      int slot = slot(hash);
      while (places[slot] != 0) {
        slot = (slot + 1) % SLOTS;
      }
      hashes[slot] = hash;
      places[slot] = to;
    }
    return this;
  }

  /**
   * Sets the place of an array's elements; by default, the object place with the same lowest bits
   * as the array.
   */
  public Grammar elements(int list, int place) {
    elements[list % LISTS] = place;
    return this;
  }

  /** Sets the place of a document that is an array; by default, such a document is skipped. */
  public Grammar rootList(int list) {
    rootList = list;
    return this;
  }

  /** Returns the place of an array's elements. */
  int element(int list) {
    int place = elements[list % LISTS];
    return place == Places.NOTHING ? list ^ (Places.LIST | Places.OBJECT) : place;
  }

  int rootList() {
    return rootList;
  }

  /**
   * Returns the place that a key leads to, or the meaning of a word; {@link Places#NOTHING} if
   * there is none.
   */
  public int find(int from, long word) {
    long hash = joined(from, word);
    int slot = slot(hash);
    while (hashes[slot] != hash && places[slot] != 0) {
      slot = (slot + 1) % SLOTS;
    }
    return places[slot];
  }

  private static long joined(int from, long word) {
    return word ^ ((long) from << 56);
  }

  private static int slot(long hash) {
    return (int) (hash >>> 56);
  }
}
