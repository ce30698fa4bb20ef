// Tensors of complex numbers as values, and operators of real numbers on them.
//
//   const ops::ComplexParts x = PartsOf(machine, value);
//   return NewComplex(machine, {x.real, -x.imaginary});
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_COMPLEX_VALUES_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_COMPLEX_VALUES_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontends/ops/fourier.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Both parts of a complex tensor; the imaginary one of a real tensor or number
// is absent.
ops::ComplexParts PartsOf(Machine& machine, const Value& value);
Value NewComplex(Machine& machine, const ops::ComplexParts& parts);

// True if one of the arguments is a complex tensor, or a list with one.
bool HasComplex(const std::vector<Argument>& arguments);
// A call with complex tensors of an operator that does the same with both
// parts (what moves elements, sums), by what `call` gives for real arguments,
// or that asks for a shape. nullopt: it is no such operator.
std::optional<Value> CallOnComplex(
    Machine& machine, const std::string& name,
    const std::vector<Argument>& arguments,
    const std::function<Value(const std::string&,
                              const std::vector<Argument>&)>& call);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_COMPLEX_VALUES_H_
