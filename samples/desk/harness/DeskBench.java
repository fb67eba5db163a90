import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/** Measures the desk, compares the figures with its bars (performance goals), and exits with status 1 if one is missed. */
public final class DeskBench {
  private static final double SPANS_PER_CPU_SECOND = 20_000;
  private static final double SEARCH_MILLIS = 100;
  private static final int HEAP_MEGABYTES = 256;
  private static final String MAX_SPANS = "--max-spans=250000";

  /** Memory outside of the heap: the JVM, its code, and socket buffers. */
  private static final int OUTSIDE_HEAP_MEGABYTES = 192;

  private static boolean met = true;

  public static void main(String[] arguments) throws IOException, InterruptedException {
    ingestAndSearch();
    System.out.println("requests with one span each, so that there are as many requests as possible to search; on all cores");
    loneSpans(DeskProcess.onAllCores("1g", MAX_SPANS), true);
    System.out.println("the same on one core, without a bar");
    loneSpans(DeskProcess.onOneCore("1g", MAX_SPANS), false);
    bounds();
    System.out.println(met ? "ok" : "MISSED");
    System.exit(met ? 0 : 1);
  }

  private static void ingestAndSearch() throws IOException, InterruptedException {
    try (DeskProcess desk = DeskProcess.onOneCore("1g", MAX_SPANS);
        SpanLoad load = new SpanLoad(desk.otlpEndpoint())) {
      load.send(300_000);
      double[] rates = new double[3];
      for (int i = 0; i < rates.length; i++) {
        double cpu = desk.cpuSeconds();
        long wall = System.nanoTime();
        long before = load.sent();
        load.send(200_000);
        long spans = load.sent() - before;
        rates[i] = spans / (desk.cpuSeconds() - cpu);
        System.out.printf(
            Locale.ROOT,
            "ingest: %,.0f spans per second of CPU time, %,.0f per second%n",
            rates[i],
            spans / ((System.nanoTime() - wall) / 1e9));
      }
      Arrays.sort(rates);
      bar("spans received per second of CPU time, median", rates[1], rates[1] >= SPANS_PER_CPU_SECOND);
      accounted(desk, load);
      search(desk, true);
    }
  }

  private static void accounted(DeskProcess desk, SpanLoad load)
      throws IOException, InterruptedException {
    long keptSpans = desk.stat("spans");
    long dropped = desk.stat("oldest_trace");
    boolean all = keptSpans + dropped == load.sent() && desk.stat("received") == load.sent();
    bar(
        "spans kept, of %,d sent, with %,d dropped and counted".formatted(load.sent(), dropped),
        keptSpans,
        all);
  }

  private static void loneSpans(DeskProcess started, boolean hasBar) throws IOException, InterruptedException {
    try (DeskProcess desk = started;
        SpanLoad load = new SpanLoad(desk.otlpEndpoint())) {
      load.sendLone(210_000);
      search(desk, hasBar);
    }
  }

  private static void search(DeskProcess desk, boolean hasBar)
      throws IOException, InterruptedException {
    System.out.printf("search: over %,d spans of %,d requests%n", desk.stat("spans"), desk.stat("traces"));
    bar("spans to search", desk.stat("spans"), desk.stat("spans") >= 200_000);
    for (String query :
        new String[] {
          "",
          "?q=qwen",
          "?q=no-such-thing-anywhere",
          "?q=request-107000",
          "?q=abcd",
          "?status=error",
          "?model=mistral-large&minTtftMs=450",
          "?q=vllm&minMs=0.1&limit=1000"
        }) {
      double[] millis = new double[20];
      for (int i = 0; i < millis.length; i++) {
        long begin = System.nanoTime();
        desk.get("/api/requests" + query);
        millis[i] = (System.nanoTime() - begin) / 1e6;
      }
      double first = millis[0];
      Arrays.sort(millis);
      double slowest = millis[millis.length - 1];
      String what =
          String.format(
              Locale.ROOT,
              "ms for the slowest of 20 searches (first %.1f, median %.1f): /api/requests%s",
              first,
              millis[millis.length / 2],
              query);
      if (hasBar) {
        bar(what, slowest, slowest <= SEARCH_MILLIS);
      } else {
        System.out.printf(Locale.ROOT, "       %,12.1f %s%n", slowest, what);
      }
    }
  }

  /** Sends far more spans than a small desk can hold. */
  private static void bounds() throws IOException, InterruptedException {
    try (DeskProcess desk = DeskProcess.onOneCore(HEAP_MEGABYTES + "m", "--max-spans=100000000");
        SpanLoad load = new SpanLoad(desk.otlpEndpoint())) {
      load.send(1_000_000);
      accounted(desk, load);
      long peak = desk.peakMegabytes();
      bar(
          "MB of peak memory with a heap of " + HEAP_MEGABYTES + " MB",
          peak,
          peak <= HEAP_MEGABYTES + OUTSIDE_HEAP_MEGABYTES);
    }
  }

  private static void bar(String what, double figure, boolean isMet) {
    met &= isMet;
    System.out.printf(Locale.ROOT, "%-6s %,12.1f %s%n", isMet ? "ok" : "MISSED", figure, what);
  }

  private DeskBench() {}
}
