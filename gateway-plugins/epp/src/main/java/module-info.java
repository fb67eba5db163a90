/** llm-d's endpoint picking, with its spans. */
module io.inferspan.epp {
  exports io.inferspan.epp;
  exports io.inferspan.epp.plugins.disagg;
  exports io.inferspan.epp.plugins.filter;
  exports io.inferspan.epp.plugins.pick;
  exports io.inferspan.epp.plugins.score;
  exports io.inferspan.epp.scheduling;
  exports io.inferspan.epp.tracing;

  requires transitive io.inferspan;
  requires static micrometer.core;
  requires static org.jspecify;
}
