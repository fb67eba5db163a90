package io.inferspan.pd.rig;

import io.netty.buffer.PooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;

/** Measures this process's memory: live byte arrays, and direct memory in live buffers. */
public final class LiveMemory {
  private LiveMemory() {}

  /** Returns the bytes of byte arrays and live buffers after a full collection. */
  public static long bytes() {
    return byteArrays() + PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
  }

  private static long byteArrays() {
    String histogram;
    try {
      histogram =
          (String)
              ManagementFactory.getPlatformMBeanServer()
                  .invoke(
                      new ObjectName("com.sun.management:type=DiagnosticCommand"),
                      "gcClassHistogram",
                      new Object[] {new String[0]},
                      new String[] {String[].class.getName()});
    } catch (JMException e) {
      throw new IllegalStateException("no heap histogram here", e);
    }
    String arrays =
        histogram.lines().filter(line -> line.contains(" [B")).findFirst().orElseThrow();
    return Long.parseLong(List.of(arrays.trim().split("\\s+", -1)).get(2));
  }
}
