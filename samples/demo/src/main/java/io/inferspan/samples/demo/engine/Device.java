package io.inferspan.samples.demo.engine;

/** The device of an engine; the thread that serves the request calls it. */
interface Device {

  /** No device: time passes, and nothing is called. */
  Device NONE =
      new Device() {
        @Override
        public void prefill(int tokens, long millis) {}

        @Override
        public void token() {}
      };

  /** Computes a prompt for about this time. */
  void prefill(int tokens, long millis);

  /** Computes one more token. */
  void token();
}
