package io.inferspan.epp.plugins.disagg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.epp.Cycle;
import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.inferspan.epp.PdReasoning;
import io.inferspan.epp.ProfileHandler;
import io.inferspan.epp.ProfileHandler.Pick;
import io.inferspan.epp.SchedulingResult;
import io.opentelemetry.context.Context;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ProfileHandlersTest {

  private static final Decider NO = (cycle, decode) -> PdReasoning.of(false, "no");
  private static final Set<String> ALL = Set.of("decode", "prefill", "encode");

  private final Cycle cycle = Fleet.cycle();
  private final Map<String, List<Endpoint>> results = new LinkedHashMap<>();

  /** The decisions until the handler has nothing more to run; profiles in {@code empty} fail. */
  private List<String> decisions(ProfileHandler handler, Set<String> profiles, String... empty) {
    List<String> decisions = new ArrayList<>();
    Pick pick;
    do {
      pick = handler.pick(cycle, profiles, results, Context.root());
      decisions.add(pick.decision() + flags(pick));
      assertThat(decisions).as("a handler that comes to an end").hasSizeLessThan(10);
      for (String profile : pick.profiles()) {
        boolean fails = List.of(empty).contains(profile);
        results.put(profile, fails ? List.of() : List.of(Fleet.pod(results.size())));
      }
    } while (!pick.profiles().isEmpty());
    return decisions;
  }

  private static String flags(Pick pick) {
    return (pick.decodeFailed() ? " decode_failed" : "")
        + (pick.prefillFailed() ? " prefill_failed" : "");
  }

  private static DisaggProfileHandler disagg(Decider prefill, Decider encode) {
    return DisaggProfileHandler.builder().prefillDecider(prefill).encodeDecider(encode).build();
  }

  @Test
  void pd_runsDecodeThenPrefill() {
    PdProfileHandler handler = new PdProfileHandler(Decider.always());
    assertThat(decisions(handler, Set.of("decode", "prefill")))
        .containsExactly("run_decode", "prefill_decode", "complete");

    SchedulingResult result = handler.conclude(cycle, results);
    assertThat(result.target()).hasToString("ns/a");
    assertThat(result.prefillTarget()).hasToString("ns/b");
  }

  @Test
  void pd_decodesOnly_ifTheDeciderRejectsDisaggregation() {
    PdProfileHandler handler = new PdProfileHandler(NO);
    assertThat(decisions(handler, Set.of("decode", "prefill")))
        .containsExactly("run_decode", "decode_only");
    assertThat(handler.conclude(cycle, results).prefill()).isNull();
  }

  @Test
  void pd_endsWhereDecodeFails() {
    PdProfileHandler handler = new PdProfileHandler(Decider.always());
    assertThat(decisions(handler, Set.of("decode", "prefill"), "decode"))
        .containsExactly("run_decode", "complete decode_failed");
    assertThat(handler.conclude(cycle, results).failure())
        .isEqualTo("failed to find available decode workers");
  }

  @Test
  void pd_withoutPrefillProfile_isComplete() {
    assertThat(decisions(new PdProfileHandler(Decider.always()), Set.of("decode")))
        .containsExactly("run_decode", "complete");
    assertThat(decisions(new PdProfileHandler(Decider.always()), Set.of("decode", "unrelated")))
        .containsExactly("complete");
  }

  @Test
  void pd_callsTheDeciderOnce_withAnyOtherProfiles() {
    List<String> asked = new ArrayList<>();
    Decider yes =
        (cycle, decode) -> {
          asked.add("prefill");
          return PdReasoning.of(true, "yes");
        };
    assertThat(decisions(new PdProfileHandler(yes), ALL))
        .containsExactly("run_decode", "prefill_decode", "complete");
    assertThat(asked).hasSize(1);
  }

  @Test
  void pd_returnsTheMeasurementsOfTheDecider() {
    PdReasoning why = new PdReasoning(true, "why", 1, 2, 3, 4, 5);
    results.put("decode", Fleet.pods(1));
    Pick pick =
        new PdProfileHandler((cycle, decode) -> why)
            .pick(cycle, Set.of("decode", "prefill"), results, Context.root());
    assertThat(pick.reasoning()).isEqualTo(why);
  }

  @Test
  void disagg_runsAllThreeStages() {
    DisaggProfileHandler handler = disagg(Decider.always(), Decider.always());
    assertThat(decisions(handler, ALL))
        .containsExactly(
            "run_decode", "run_encode", "run_prefill", "complete_encode-prefill-decode");
    assertThat(handler.conclude(cycle, results).encode()).hasToString("[ns/b]");
  }

  @Test
  void disagg_runsEncodeAlone() {
    assertThat(decisions(disagg(NO, Decider.always()), ALL))
        .containsExactly("run_decode", "run_encode", "complete_encode-decode");
  }

  @Test
  void disagg_runsPrefillAlone_andAsksTheEncodeDeciderOnce() {
    List<String> asked = new ArrayList<>();
    Decider no =
        (cycle, decode) -> {
          asked.add("encode");
          return PdReasoning.of(false, "no");
        };
    assertThat(decisions(disagg(Decider.always(), no), ALL))
        .containsExactly("run_decode", "run_prefill", "complete_prefill-decode");
    assertThat(asked).hasSize(1);
  }

  @Test
  void disagg_decodesOnlyWithoutDecidersOrProfiles() {
    assertThat(decisions(DisaggProfileHandler.builder().build(), ALL))
        .containsExactly("run_decode", "complete_decode-only");
    results.clear();
    assertThat(decisions(disagg(Decider.always(), Decider.always()), Set.of("decode")))
        .containsExactly("run_decode", "complete_decode-only");
  }

  @Test
  void disagg_reportsTheFailedStages() {
    assertThat(decisions(disagg(Decider.always(), NO), ALL, "decode"))
        .containsExactly("run_decode", "complete decode_failed");
    results.clear();
    assertThat(decisions(disagg(Decider.always(), NO), ALL, "prefill"))
        .containsExactly("run_decode", "run_prefill", "complete_decode-only prefill_failed");
  }

  @Test
  void disagg_withoutDecodeProfile_isAnError() {
    assertThat(decisions(disagg(NO, NO), Set.of("prefill")))
        .containsExactly("error_missing_decode_profile");
    assertThat(disagg(NO, NO).conclude(cycle, results).failure()).isNotNull();
  }

  @Test
  void prefillFirst_runsPrefillWithoutAsking() {
    DisaggProfileHandler handler =
        DisaggProfileHandler.builder()
            .order(DisaggProfileHandler.Order.PREFILL_FIRST)
            .encodeDecider(Decider.always())
            .build();
    assertThat(decisions(handler, ALL))
        .containsExactly(
            "run_prefill", "run_encode", "run_decode", "complete_encode-prefill-decode");
    results.clear();
    assertThat(decisions(handler, Set.of("decode")))
        .containsExactly("run_decode", "complete_decode-only");
    results.clear();
    assertThat(decisions(handler, Set.of("prefill")))
        .containsExactly("run_prefill", "error_missing_decode_profile");
  }

  @Test
  void prefillFirst_takesNoPrefillDecider() {
    assertThatThrownBy(
            () ->
                DisaggProfileHandler.builder()
                    .order(DisaggProfileHandler.Order.PREFILL_FIRST)
                    .prefillDecider(NO)
                    .build())
        .hasMessageContaining("a prefill decider has no effect with PREFILL_FIRST");
  }

  @Test
  void profilesMayHaveOtherNames() {
    DisaggProfileHandler handler =
        DisaggProfileHandler.builder()
            .profiles("d", "p", "e")
            .prefillDecider(Decider.always())
            .build();
    assertThat(decisions(handler, Set.of("d", "p"))).hasSize(3);
    assertThat(handler.conclude(cycle, results).prefillTarget()).hasToString("ns/b");
  }

  @Test
  void single_runsItsProfileOnce() {
    SingleProfileHandler handler = new SingleProfileHandler();
    assertThat(decisions(handler, Set.of("default"))).containsExactly("run", "complete");
    assertThat(handler.conclude(cycle, results).target()).hasToString("ns/a");
    assertThat(handler.conclude(cycle, Map.of()).failure()).isEqualTo("no endpoint is available");
  }
}
