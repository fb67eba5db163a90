package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.Unit;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the unit of the values in a file of stacks. */
final class UnitConverter implements ITypeConverter<Unit> {

  @Override
  public Unit convert(String word) {
    Unit unit = Unit.of(word);
    if (unit == null) {
      throw new TypeConversionException(word + " must be samples, calls, ns, us or bytes");
    }
    return unit;
  }
}
