package io.inferspan.ebpf.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.linux.Mapping;
import java.lang.invoke.VarHandle;

/**
 * The part of a bridge's settings that enables capture policies, and tells the programs which one
 * is loaded.
 */
public final class PolicySwitch implements AutoCloseable {

  private static final int FLOOR_BITS = 16;
  private static final int MASK = (1 << FLOOR_BITS) - 1;
  private static final long CURRENT_AT = 80;
  private static final VarHandle INT = JAVA_INT.varHandle();

  private final Mapping mapping;
  private final long at;

  PolicySwitch(Mapping mapping, long at) {
    this.mapping = mapping;
    this.at = at;
  }

  static int floor(int word) {
    return word & MASK;
  }

  /**
   * Returns the floor: one in this many calls of each kind is kept whatever the policy decides.
   * Zero if policies are disabled.
   */
  public int floor() {
    return floor(word());
  }

  /**
   * Returns the generation for a policy that is about to be loaded or restored. Generations count
   * the loads and rollbacks of policies from 1 to 65535, and then start again at 1.
   */
  public int nextGeneration() {
    int before;
    int generation;
    do {
      before = word();
      generation = Math.max(1, (before >>> FLOOR_BITS) + 1 & MASK);
    } while (!INT.compareAndSet(
        mapping.memory(), at, before, generation << FLOOR_BITS | floor(before)));
    return generation;
  }

  /** Sets the generation of the policy that is loaded; zero if none is. */
  public void setCurrent(int generation) {
    INT.setVolatile(mapping.memory(), CURRENT_AT, generation);
  }

  /** Enables policies, and sets the {@linkplain #floor() floor}. Zero disables policies. */
  public void setFloor(int floor) {
    int before;
    do {
      before = word();
    } while (!INT.compareAndSet(mapping.memory(), at, before, (before & ~MASK) | floor));
  }

  private int word() {
    return (int) INT.getVolatile(mapping.memory(), at);
  }

  @Override
  public void close() {
    mapping.close();
  }
}
