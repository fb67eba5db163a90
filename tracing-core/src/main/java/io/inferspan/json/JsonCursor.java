package io.inferspan.json;

/** The position of a {@link JsonScanner} in a document, as a node of its {@link Grammar}. */
public final class JsonCursor {

  private final Grammar grammar;
  private int node = NodeType.OUTSIDE;

  /** The enclosing nodes, one byte each; the outermost of eight is {@link NodeType#OUTSIDE}. */
  private long enclosing;

  private int redirected = -1;
  private int redirectedTo;

  /** The node of the next value, or of the value that is being read. */
  int value = NodeType.ROOT;

  /** Set if the next string is a key. */
  boolean keyNext;

  JsonCursor(Grammar grammar) {
    this.grammar = grammar;
  }

  void restart() {
    redirected = -1;
    leaveAll();
  }

  private void leaveAll() {
    node = NodeType.OUTSIDE;
    value = NodeType.ROOT;
    enclosing = 0;
    keyNext = false;
  }

  /**
   * Enters an object or an array; returns false if the grammar does not contain it, or if it is
   * more than eight levels deep.
   */
  boolean enter(byte bracket) {
    boolean list = bracket == '[';
    int next = list && node == NodeType.OUTSIDE ? grammar.rootList() : value;
    if (isFull() || (list ? !NodeType.isList(next) : !NodeType.isObject(next))) {
      return false;
    }
    enclosing = enclosing << Byte.SIZE | node;
    node = next;
    comma();
    return true;
  }

  private boolean isFull() {
    return enclosing >>> (Long.SIZE - Byte.SIZE) != 0;
  }

  /** Leaves an object or an array and returns its node. */
  int leave() {
    int left = node;
    if (left != NodeType.OUTSIDE) {
      node = (int) (enclosing & 0xff);
      enclosing >>>= Byte.SIZE;
      value = NodeType.NOTHING;
      keyNext = false;
      if (node == NodeType.OUTSIDE) {
        leaveAll();
      }
    }
    return left;
  }

  void comma() {
    keyNext = NodeType.isObject(node);
    value = keyNext ? NodeType.NOTHING : grammar.element(node);
  }

  void key(long hash) {
    int found = grammar.find(node, hash);
    value = found == redirected ? redirectedTo : found;
  }

  /** Treats values at {@code from} as values at {@code to} for the rest of the document. */
  public void redirect(int from, int to) {
    redirected = from;
    redirectedTo = to;
  }
}
