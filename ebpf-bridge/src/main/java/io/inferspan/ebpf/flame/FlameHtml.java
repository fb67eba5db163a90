package io.inferspan.ebpf.flame;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Writes a flame graph as a self-contained HTML page. */
public final class FlameHtml {

  private static final int RADIX = 36;

  private FlameHtml() {}

  /** Returns the page of one profile. */
  public static String of(StackCounts counts, String title) throws IOException {
    return page(FlameTree.of(counts), counts.unit(), title, false);
  }

  /**
   * Returns the page of a difference: as wide as {@code after}, red where the share grew, blue
   * where it shrank. Only shares are compared, so the two profiles may differ in length.
   */
  public static String difference(StackCounts before, StackCounts after, String title)
      throws IOException {
    return page(FlameTree.difference(before, after), after.unit(), title, true);
  }

  private static String page(FlameTree tree, Unit unit, String title, boolean difference)
      throws IOException {
    return resource("flame.html")
        .replace("%TITLE%", escaped(title))
        .replace("%UNIT%", unit.word())
        .replace("%DIFFERENCE%", Boolean.toString(difference))
        .replace("%SCRIPT%", resource("flame.js"))
        .replace("%DATA%", packed(text(tree, difference)));
  }

  /**
   * Returns the page's data: the number of names, one name per line, then the frames from the root
   * on. A frame has its depth, the number of its name, the count that ends in it and, in a
   * difference, the count before.
   */
  private static String text(FlameTree tree, boolean difference) {
    FlameTree.NameTable names = new FlameTree.NameTable();
    StringBuilder frames = new StringBuilder();
    tree.forEach(
        (node, depth) -> {
          number(frames, depth);
          number(frames, names.number(node.name));
          number(frames, node.self);
          if (difference) {
            number(frames, node.selfBefore);
          }
        });
    StringBuilder text = new StringBuilder().append(names.names().size()).append('\n');
    names.names().forEach(name -> text.append(name).append('\n'));
    return text.append(frames).toString();
  }

  private static void number(StringBuilder text, long number) {
    text.append(Long.toString(number, RADIX)).append(' ');
  }

  private static String packed(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Deflater best = new Deflater(Deflater.BEST_COMPRESSION);
    try (DeflaterOutputStream out = new DeflaterOutputStream(bytes, best)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } finally {
      best.end();
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static String resource(String name) throws IOException {
    try (InputStream in = FlameHtml.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IOException("the resource " + name + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
