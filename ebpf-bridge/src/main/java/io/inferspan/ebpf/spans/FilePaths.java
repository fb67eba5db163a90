package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reduces a path to the kind of its directory and its extension, each from a closed list, because
 * file names contain names of users and models.
 */
final class FilePaths {

  private static final List<String> PLACES =
      List.of("none relative other system config home temporary kernel device data".split(" "));

  private static final int RELATIVE = 1;
  private static final int OTHER = 2;

  /**
   * Top-level directories; {@link #DIRECTORY_PLACES} has their kinds, as indices of {@link
   * #PLACES}.
   */
  private static final Words DIRECTORIES =
      new Words(
          """
          usr lib lib64 bin sbin opt etc home root tmp run proc sys dev var mnt data srv models
          """);

  private static final int[] DIRECTORY_PLACES = {
    3, 3, 3, 3, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 9, 9, 9, 9, 9
  };

  private static final Words EXTENSIONS =
      new Words(
          """
          none other so py pyc json safetensors bin pt pth gguf onnx txt log conf yaml yml toml
          cubin ptx fatbin c h sock lock pid tmp csv parquet npy npz jar class html xml md zip gz
          whl model cu
          """);

  private static final int NO_EXTENSION = 0;
  private static final int OTHER_EXTENSION = 1;

  private FilePaths() {}

  /** Returns the kind of directory and the extension as one number. */
  static long reduced(EventView view) {
    int length = view.textLength();
    // The path may have another extension than its recorded beginning.
    int extension = view.isTextCut() ? OTHER_EXTENSION : extension(view, length);
    return (long) place(view, length) << Integer.SIZE | extension;
  }

  static String place(long reduced) {
    return PLACES.get((int) (reduced >>> Integer.SIZE));
  }

  static String extension(long reduced) {
    return EXTENSIONS.word((int) reduced);
  }

  private static int place(EventView view, int length) {
    if (length == 0) {
      return 0;
    }
    if (view.textByte(0) != '/') {
      return RELATIVE;
    }
    int end = 1;
    while (end < length && view.textByte(end) != '/') {
      end++;
    }
    int directory = end < length ? DIRECTORIES.find(view, 1, end) : -1;
    return directory < 0 ? OTHER : DIRECTORY_PLACES[directory];
  }

  private static int extension(EventView view, int length) {
    int end = length;
    for (int i = length - 1; i > 0 && view.textByte(i) != '/'; i--) {
      boolean hidden = view.textByte(i - 1) == '/';
      if (view.textByte(i) == '.' && !hidden) {
        int found = EXTENSIONS.find(view, i + 1, end);
        if (found > OTHER_EXTENSION) {
          return found;
        }
        if (!isVersion(view, i + 1, end)) {
          return OTHER_EXTENSION;
        }
        end = i;
      }
    }
    return end == length ? NO_EXTENSION : OTHER_EXTENSION;
  }

  /** Returns whether the suffix is a version, as in libcuda.so.1. */
  private static boolean isVersion(EventView view, int from, int to) {
    for (int i = from; i < to; i++) {
      if (view.textByte(i) < '0' || view.textByte(i) > '9') {
        return false;
      }
    }
    return to > from;
  }

  /** A closed list of words, looked up in bytes. */
  private static final class Words {

    private final List<String> words;
    private final byte[][] bytes;

    Words(String list) {
      this.words = List.of(list.split("\\s+"));
      this.bytes =
          words.stream()
              .map(word -> word.getBytes(StandardCharsets.US_ASCII))
              .toArray(byte[][]::new);
    }

    String word(int index) {
      return words.get(index);
    }

    int find(EventView view, int from, int to) {
      for (int i = 0; i < bytes.length; i++) {
        if (bytes[i].length == to - from && matches(bytes[i], view, from)) {
          return i;
        }
      }
      return -1;
    }

    private static boolean matches(byte[] word, EventView view, int from) {
      for (int i = 0; i < word.length; i++) {
        if (view.textByte(from + i) != word[i]) {
          return false;
        }
      }
      return true;
    }
  }
}
