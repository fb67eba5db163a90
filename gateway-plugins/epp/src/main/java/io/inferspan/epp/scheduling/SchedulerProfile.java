package io.inferspan.epp.scheduling;

import io.inferspan.epp.Filter;
import io.inferspan.epp.Picker;
import io.inferspan.epp.Scorer;
import java.util.ArrayList;
import java.util.List;

/** Filters, weighted scorers and a picker, which run in this order. */
public final class SchedulerProfile {

  final String name;
  final List<Filter> filters;
  final List<Weighted> scorers;
  final Picker picker;

  private SchedulerProfile(Builder builder, Picker picker) {
    this.name = builder.name;
    this.filters = List.copyOf(builder.filters);
    this.scorers = List.copyOf(builder.scorers);
    this.picker = picker;
  }

  /** Returns a builder for a profile with this name. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /** A scorer and its weight in the sum. */
  record Weighted(Scorer scorer, double weight) {}

  /**
   * Builder for {@link SchedulerProfile}; plugins of a kind are called in the order in which they
   * were added.
   */
  public static final class Builder {
    private final String name;
    private final List<Filter> filters = new ArrayList<>();
    private final List<Weighted> scorers = new ArrayList<>();

    private Builder(String name) {
      this.name = name;
    }

    /** Adds a filter. */
    public Builder filter(Filter filter) {
      filters.add(filter);
      return this;
    }

    /** Adds a scorer with weight 1. */
    public Builder scorer(Scorer scorer) {
      return scorer(scorer, 1);
    }

    /** Adds a scorer. */
    public Builder scorer(Scorer scorer, double weight) {
      if (!(weight >= 0) || Double.isInfinite(weight)) {
        throw new IllegalArgumentException(
            "the weight of scorer "
                + scorer.name()
                + " in profile "
                + name
                + " is "
                + weight
                + ", but must be a number of 0 or more");
      }
      scorers.add(new Weighted(scorer, weight));
      return this;
    }

    /** Builds the profile with its picker. */
    public SchedulerProfile picker(Picker picker) {
      return new SchedulerProfile(this, picker);
    }
  }
}
