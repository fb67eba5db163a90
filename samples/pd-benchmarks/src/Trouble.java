/** Something that makes the run void, in one sentence for whoever started it. */
final class Trouble extends RuntimeException {
  private static final long serialVersionUID = 1;

  Trouble(String sentence) {
    super(sentence);
  }
}
