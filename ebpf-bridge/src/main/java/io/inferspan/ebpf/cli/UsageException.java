package io.inferspan.ebpf.cli;

/** A command line that cannot be followed; its message is the one sentence to print. */
final class UsageException extends Exception {

  private static final long serialVersionUID = 1L;

  UsageException(String sentence) {
    super(sentence);
  }
}
