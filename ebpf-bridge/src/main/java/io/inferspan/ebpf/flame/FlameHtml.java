package io.inferspan.ebpf.flame;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** A flame graph as one HTML page that needs nothing else. */
public final class FlameHtml {

  private static final int RADIX = 36;

  private FlameHtml() {}

  /** The page of one profile. */
  public static String of(StackCounts counts, String title) throws IOException {
    return page(FlameTree.of(counts), counts.unit(), title, false);
  }

  /**
   * The page of what changed: as wide as after, red where the share grew, blue where it shrank.
   * Only shares are compared, so the two profiles may last differently long.
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
   * First the number of names and the names, one a line, then frames from the root on: depth,
   * number of the name, what ends there now, and in a difference what ended there before.
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
