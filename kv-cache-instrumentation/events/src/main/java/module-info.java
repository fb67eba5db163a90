/** KV events of engines, received over ZMQ. */
module io.inferspan.kvcache.events {
  exports io.inferspan.kvcache.events;

  requires transitive io.inferspan.kvcache;
  requires org.zeromq.jeromq;
  requires static micrometer.core;
  requires static org.jspecify;
}
