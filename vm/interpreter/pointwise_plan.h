// The smallest interpreter of dispatches. It runs the definition itself
// (tensor/evaluator/evaluator.h), point by point. It is a hundred to a thousand
// times slower than the strip interpreter, with a tenth of its code size. It is
// for programs that must be small and bring kernels for the dispatches that
// must be fast, or whose models are tiny.
//
//   Session::Create(module, {.device = device,
//                            .interpreter = &PointwiseInterpreter()});
//
// It uses one thread. Sums of f32 and of products of f32 are added up in f64
// and rounded once, so that they keep the bound of tensor/sum_error.h at every
// length. Results may differ from those of strips in their last bits, because
// strips round differently.
#ifndef EMBER_VM_INTERPRETER_POINTWISE_PLAN_H_
#define EMBER_VM_INTERPRETER_POINTWISE_PLAN_H_

#include "vm/interpreter/plan.h"

namespace ember::vm {

const Interpreter& PointwiseInterpreter();

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_POINTWISE_PLAN_H_
