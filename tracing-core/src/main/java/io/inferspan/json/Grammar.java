package io.inferspan.json;

/**
 * Defines the relevant places of a JSON document, as transitions by key. Do not change it after its
 * first use.
 */
public final class Grammar {

  private static final int SLOTS = 256;
  private static final int LISTS = 16;

  private final long[] hashes = new long[SLOTS];
  private final int[] places = new int[SLOTS];
  private final int[] elements = new int[LISTS];
  private int rootList = Places.NOTHING;

  /** Creates a grammar that contains only the document. */
  public Grammar() {}

  /**
   * Adds transitions by key. From a {@link Places#WORD}, a key is a word and {@code to} its
   * meaning.
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

  /** Sets the place of a list's elements, if it differs from that of the list. */
  public Grammar elements(int list, int place) {
    elements[list % LISTS] = place;
    return this;
  }

  /** Allows documents that are this list. */
  public Grammar rootList(int list) {
    rootList = list;
    return this;
  }

  /** Returns the place of a list's elements. */
  int element(int list) {
    int place = elements[list % LISTS];
    return place == Places.NOTHING ? list ^ (Places.LIST | Places.OBJECT) : place;
  }

  int rootList() {
    return rootList;
  }

  /** Returns the place under a key, or the meaning of a word; {@link Places#NOTHING} if unknown. */
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
