package io.inferspan.samples.benchmarks;

/** The data of one request. All implementations set their span attributes from it. */
record RequestFacts(
    String model,
    String requestId,
    String route,
    String algorithm,
    String decision,
    String profile,
    String connector,
    String podAddress,
    String podPort,
    long pods,
    long blocks,
    long promptTokens,
    long completionTokens,
    long threshold,
    long inputBytes,
    double scoreMax,
    double scoreAvg,
    double hitRatio,
    double totalMillis,
    double ttftMillis) {

  static RequestFacts example() {
    return new RequestFacts(
        "meta-llama/Llama-3.1-8B-Instruct",
        "chatcmpl-7f3c1d52a9e04b51",
        "/v1/chat/completions",
        "LongestPrefix",
        "prefill_decode",
        "prefill",
        "nixlv2",
        "10.244.3.17",
        "8000",
        6,
        211,
        3_376,
        512,
        1_024,
        13_911,
        65.0,
        21.5,
        0.31,
        2_105.3,
        55.4);
  }
}
