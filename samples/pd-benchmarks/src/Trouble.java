/** Something that makes the run void, in one sentence for the user. */
final class Trouble extends RuntimeException {
  private static final long serialVersionUID = 1;

  Trouble(String sentence) {
    super(sentence);
  }
}
