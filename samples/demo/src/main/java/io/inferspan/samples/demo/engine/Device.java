package io.inferspan.samples.demo.engine;

/** The device of an engine. The thread that serves a request calls it. */
interface Device {

  /** Does nothing; the fake engine alone determines the timing. */
  Device NONE =
      new Device() {
        @Override
        public void prefill(int tokens, long millis) {}

        @Override
        public void token() {}
      };

  /** Computes a prompt, which takes about {@code millis}. */
  void prefill(int tokens, long millis);

  /** Generates one token. */
  void token();
}
