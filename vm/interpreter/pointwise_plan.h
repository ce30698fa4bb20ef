// The smallest interpreter of dispatches: the definition itself
// (tensor/evaluator.h), point by point, a hundred to a thousand times slower
// than strips and a tenth of their size. For programs that must be small and
// bring kernels for what has to be fast, or whose models are tiny.
//
//   Session::Create(module, {.device = device,
//                            .interpreter = &PointwiseInterpreter()});
//
// One thread. Sums and products of f32 are added up in f64 and rounded once, so
// that they keep the bound of tensor/sum_error.h at every length. Results do
// not have the bits of strips where those round otherwise.
#ifndef EMBER_VM_INTERPRETER_POINTWISE_PLAN_H_
#define EMBER_VM_INTERPRETER_POINTWISE_PLAN_H_

#include "vm/interpreter/plan.h"

namespace ember::vm {

const Interpreter& PointwiseInterpreter();

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_POINTWISE_PLAN_H_
