// The definition of what a dispatch computes: a scalar evaluator, point by
// point, with no cleverness. The interpreter and all kernels are compared with
// it. Slow.
//
//   // Inputs and outputs, in order.
//   std::vector<void*> buffers = {x.data(), y.data()};
//   EMBER_RETURN_IF_ERROR(Evaluate(dispatch, {batch}, buffers, {}));
//
// What is said nowhere else: stages run in order, points of a stage in the
// order of its axes (last fastest), reductions too; of several stores to one
// element in a stage the last one stays (elsewhere: an unspecified one).
// Temporaries start as zeros; elements of outputs that no stage stores keep
// what they held. All that a result depends on is evaluated at every point:
// select does not guard a load, pad does. Where a stage has no reduction
// points, its values are not evaluated.
#ifndef EMBER_TENSOR_EVALUATOR_H_
#define EMBER_TENSOR_EVALUATOR_H_

#include <cstdint>
#include <span>

#include "base/interrupt.h"
#include "base/status.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

struct EvaluateOptions {
  // Sums and products of f32 accumulate in f64 and round once: the reference
  // for tolerances.
  bool accumulate_in_f64 = false;
  // Memory for temporaries, one pointer per temporary in the dispatch's order;
  // empty: memory of the evaluation's own.
  std::span<void* const> temporaries;
  // Asked now and then; null: nobody stops it.
  const Interrupt* interrupt = nullptr;
};

// The dispatch is verified. buffers: one pointer per input and output in the
// dispatch's order, each to as many elements as its extents say, row-major.
// Errors: what ConcreteHeader says about the parameters; an index out of range,
// naming dispatch, buffer, index and extent; what stopped it.
Status Evaluate(const Dispatch& dispatch, std::span<const int64_t> parameters,
                std::span<void* const> buffers, EvaluateOptions options);
// With the dispatch's header for the parameters.
Status EvaluateFor(const Dispatch& dispatch, const ConcreteHeader& header,
                   std::span<void* const> buffers,
                   const EvaluateOptions& options);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_EVALUATOR_H_
