package io.inferspan.catalog;

import io.inferspan.semconv.Attribute;
import io.inferspan.semconv.CommonAttributes;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Every span that Inferspan knows, and every attribute that they carry. */
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

  /** Every span type, in the order of a request's way through the stack. */
  public static List<SpanType> all() {
    return ALL;
  }

  /** Every attribute that some span of the catalogue may carry. */
  public static Set<Attribute<?>> attributes() {
    Set<Attribute<?>> attributes = new LinkedHashSet<>();
    attributes.add(CommonAttributes.ERROR_TYPE);
    ALL.forEach(type -> attributes.addAll(type.attributes()));
    return attributes;
  }
}
