package io.inferspan.json;

/**
 * Selects the values of a document that a {@link JsonScanner} reports.
 *
 * <p>A grammar is a graph of nodes: an object's key leads from the object's node to the node of the
 * value. {@link NodeType} defines the numbers of nodes. Objects and arrays that are more than eight
 * levels deep are skipped. Do not change a grammar after its first use.
 */
public final class Grammar {

  private static final int SLOTS = 256;
  private static final int LISTS = 16;

  private final long[] hashes = new long[SLOTS];
  private final int[] nodes = new int[SLOTS];
  private final int[] elements = new int[LISTS];
  private int rootList = NodeType.NOTHING;

  /** Creates a grammar that selects no value. */
  public Grammar() {}

  /**
   * Makes each of these keys lead from the object {@code from} to the node {@code to}. If {@code
   * from} is a {@link NodeType#KEYWORD}, maps each of these strings to the meaning {@code to}.
   */
  public Grammar put(int from, int to, String... keys) {
    for (String key : keys) {
      long hash = combined(from, StringHash.of(key));
      int slot = slot(hash);
      while (nodes[slot] != 0) {
        slot = (slot + 1) % SLOTS;
      }
      hashes[slot] = hash;
      nodes[slot] = to;
    }
    return this;
  }

  /**
   * Sets the node of an array's elements; by default, the object node with the same lowest bits as
   * the array.
   */
  public Grammar elements(int list, int node) {
    elements[list % LISTS] = node;
    return this;
  }

  /** Sets the node of a document that is an array; by default, arrays are skipped. */
  public Grammar rootList(int list) {
    rootList = list;
    return this;
  }

  /** Returns the node of an array's elements. */
  int element(int list) {
    int node = elements[list % LISTS];
    return node == NodeType.NOTHING ? list ^ (NodeType.LIST | NodeType.OBJECT) : node;
  }

  int rootList() {
    return rootList;
  }

  /**
   * Returns the node that a key leads to, or the meaning of a keyword; {@link NodeType#NOTHING} if
   * there is none.
   *
   * @param hash the {@link StringHash} of the key or keyword
   */
  public int find(int from, long hash) {
    long entry = combined(from, hash);
    int slot = slot(entry);
    while (hashes[slot] != entry && nodes[slot] != 0) {
      slot = (slot + 1) % SLOTS;
    }
    return nodes[slot];
  }

  private static long combined(int from, long hash) {
    return hash ^ ((long) from << 56);
  }

  private static int slot(long hash) {
    return (int) (hash >>> 56);
  }
}
