package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The list of all span types, and of all their attributes. */
public final class SpanCatalog {

  private static final List<SpanType> ALL =
      List.of(
          GatewaySpans.REQUEST,
          GatewaySpans.ORCHESTRATION,
          GatewaySpans.ATTEMPT,
          EppSpans.STARTUP,
          EppSpans.PROFILE_RUN,
          EppSpans.FILTER,
          EppSpans.SCORING,
          EppSpans.SCORER,
          EppSpans.SCORER_PREFIX_CACHE,
          EppSpans.PICKER,
          EppSpans.PREFIX_PRODUCER,
          EppSpans.PROFILE_HANDLER,
          EppSpans.DISAGG_PROFILE_HANDLER,
          EppSpans.PREREQUEST,
          EppSpans.TOKENIZE,
          KvCacheSpans.GET_SCORES,
          KvCacheSpans.LOOKUP,
          KvCacheSpans.COMPUTE,
          KvCacheSpans.ADD,
          KvCacheSpans.EVICT,
          KvCacheSpans.EVENTS,
          PdSpans.SERVER,
          PdSpans.REQUEST,
          PdSpans.PREFILL,
          PdSpans.DECODE,
          PdSpans.CHUNKED_DECODE,
          PdSpans.UPSTREAM,
          EngineSpans.LLM_REQUEST,
          BatchSpans.STEP,
          BatchSpans.STEP_MEMBERS,
          BatchSpans.QUEUE,
          BatchSpans.PREFILL,
          BatchSpans.DECODE,
          KernelSpans.CUDA,
          KernelSpans.NCCL,
          KernelSpans.SYSCALL,
          KernelSpans.SCHED,
          KernelSpans.TCP,
          KernelSpans.CKP,
          KernelSpans.COLD_START,
          KernelSpans.COLD_START_PART);

  private SpanCatalog() {}

  /** Returns all span types, in the order in which a request passes the components. */
  public static List<SpanType> all() {
    return ALL;
  }

  /** Returns all attributes of the spans in the catalogue. */
  public static Set<Attribute<?>> attributes() {
    Set<Attribute<?>> attributes = new LinkedHashSet<>();
    attributes.add(CommonAttributes.ERROR_TYPE);
    ALL.forEach(type -> attributes.addAll(type.attributes()));
    return attributes;
  }
}
