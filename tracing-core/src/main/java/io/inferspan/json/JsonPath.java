package io.inferspan.json;

/** A reader's position in a JSON document. */
public final class JsonPath {

  private final Grammar grammar;
  private int place = Places.NOWHERE;

  /** The enclosing places, one byte each; grammars are at most eight deep. */
  private long around;

  private int moved = -1;
  private int movedTo;

  /** The place of the value that comes next or is being read. */
  int value = Places.ROOT;

  /** Set if the next string is a key. */
  boolean keyNext;

  JsonPath(Grammar grammar) {
    this.grammar = grammar;
  }

  void restart() {
    moved = -1;
    leaveAll();
  }

  private void leaveAll() {
    place = Places.NOWHERE;
    value = Places.ROOT;
    around = 0;
    keyNext = false;
  }

  /** Enters an object or an array; returns false if it is not in the grammar. */
  boolean enter(byte bracket) {
    boolean list = bracket == '[';
    int next = list && place == Places.NOWHERE ? grammar.rootList() : value;
    if (list ? !Places.isList(next) : !Places.isObject(next)) {
      return false;
    }
    around = around << Byte.SIZE | place;
    place = next;
    comma();
    return true;
  }

  /** Leaves an object or an array and returns its place. */
  int leave() {
    int left = place;
    if (left != Places.NOWHERE) {
      place = (int) (around & 0xff);
      around >>>= Byte.SIZE;
      value = Places.NOTHING;
      keyNext = false;
      if (place == Places.NOWHERE) {
        leaveAll();
      }
    }
    return left;
  }

  void comma() {
    keyNext = Places.isObject(place);
    value = keyNext ? Places.NOTHING : grammar.element(place);
  }

  void key(long word) {
    int found = grammar.find(place, word);
    value = found == moved ? movedTo : found;
  }

  /** Treats values at {@code from} as values at {@code to} for the rest of the document. */
  public void move(int from, int to) {
    moved = from;
    movedTo = to;
  }
}
