package io.inferspan.samples.demo.engine;

/** What an engine computes on; it is called by the thread that serves the request. */
interface Device {

  /** No device: times pass, and nothing is called. */
  Device NONE =
      new Device() {
        @Override
        public void prefill(int tokens, long millis) {}

        @Override
        public void token() {}
      };

  /** Computes a prompt, for about so long. */
  void prefill(int tokens, long millis);

  /** Computes one token more. */
  void token();
}
