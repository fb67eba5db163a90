package io.inferspan.ebpf.libbpf;

import java.util.Locale;

/** The functions of libbpf that the bridge calls; all are in libbpf 1.0. */
enum LibbpfFunction {
  BPF_OBJECT__OPEN_MEM,
  BPF_OBJECT__LOAD,
  BPF_OBJECT__CLOSE,
  BPF_OBJECT__NEXT_PROGRAM,
  BPF_OBJECT__FIND_MAP_BY_NAME,
  BPF_PROGRAM__NAME,
  BPF_PROGRAM__SECTION_NAME,
  BPF_PROGRAM__FD,
  BPF_PROGRAM__SET_AUTOLOAD,
  BPF_PROGRAM__SET_EXPECTED_ATTACH_TYPE,
  BPF_PROGRAM__ATTACH,
  BPF_PROGRAM__ATTACH_UPROBE_OPTS,
  BPF_MAP__FD,
  BPF_MAP__REUSE_FD,
  BPF_MAP__SET_MAX_ENTRIES,
  BPF_MAP__TYPE,
  BPF_MAP__KEY_SIZE,
  BPF_MAP__VALUE_SIZE,
  BPF_LINK__DESTROY,
  LIBBPF_NUM_POSSIBLE_CPUS,
  LIBBPF_VERSION_STRING,
  LIBBPF_SET_PRINT;

  String symbol() {
    return name().toLowerCase(Locale.ROOT);
  }
}
