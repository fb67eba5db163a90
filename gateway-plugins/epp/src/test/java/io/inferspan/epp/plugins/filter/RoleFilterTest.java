package io.inferspan.epp.plugins.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.Fleet;
import io.opentelemetry.context.Context;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RoleFilterTest {

  private static final List<Endpoint> PODS =
      List.of(
          Fleet.pod(0, "decode"),
          Fleet.pod(1, "prefill"),
          Fleet.pod(2, "encode"),
          Fleet.pod(3, "prefill-decode"),
          Fleet.pod(4, "both"),
          Fleet.pod(5, "encode-prefill"),
          Fleet.pod(6, "encode-prefill-decode"),
          Fleet.pod(7, "unheard-of"),
          Fleet.pod(8));

  private static String left(RoleFilter filter) {
    StringBuilder names = new StringBuilder();
    filter
        .filter(Fleet.cycle(), PODS, Context.root())
        .forEach(pod -> names.append(pod.id().substring("ns/".length())));
    return names.toString();
  }

  @Test
  void eachRole_keepsItsPods_andOnlyDecodeThoseWithoutLabel() {
    assertThat(left(RoleFilter.decode())).isEqualTo("adegi");
    assertThat(left(RoleFilter.prefill())).isEqualTo("bdefg");
    assertThat(left(RoleFilter.encode())).isEqualTo("cfg");
  }
}
