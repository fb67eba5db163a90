/** Gateway and endpoint-picker tracing. */
module io.inferspan.gateway {
  exports io.inferspan.epp;
  exports io.inferspan.epp.plugins.disagg;
  exports io.inferspan.epp.plugins.filter;
  exports io.inferspan.epp.plugins.pick;
  exports io.inferspan.epp.plugins.score;
  exports io.inferspan.epp.scheduling;
  exports io.inferspan.epp.tracing;

  requires transitive io.inferspan;
  requires static org.jspecify;
}
