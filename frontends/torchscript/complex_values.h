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

// Returns the real and the imaginary part of a complex tensor. For a real
// tensor or number the imaginary part is absent.
ops::ComplexParts PartsOf(Machine& machine, const Value& value);
Value NewComplex(Machine& machine, const ops::ComplexParts& parts);

// True if one of the arguments is a complex tensor, or a list that contains
// one.
bool HasComplex(const std::vector<Argument>& arguments);
// Calls the operator `name` with complex tensors among its arguments, by one or
// two calls with real arguments (`call`). That is possible if the operator does
// the same with the real and the imaginary parts (as moves of elements and sums
// do), or asks for a property of the shape; for other operators the result is
// nullopt.
std::optional<Value> CallOnComplex(
    Machine& machine, const std::string& name,
    const std::vector<Argument>& arguments,
    const std::function<Value(const std::string&,
                              const std::vector<Argument>&)>& call);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_COMPLEX_VALUES_H_
