// The definition of what a dispatch computes: a scalar evaluator that visits
// point by point and optimises nothing. The interpreter and all kernels are
// compared with it. It is slow.
//
//   // Inputs and outputs, in order.
//   std::vector<void*> buffers = {x.data(), y.data()};
//   EMBER_RETURN_IF_ERROR(Evaluate(dispatch, {batch}, buffers, {}));
//
// The following rules are specified only here. Stages run in order. Points of a
// stage, and of a reduction, are visited in the order of its axes, last axis
// fastest. Of several stores to one element in a stage the last one remains;
// other executors may keep any of them. Temporaries start as zeros. Elements of
// outputs that no stage stores keep their contents. Every value on which a
// result depends is evaluated at every point: a select does not prevent a load
// out of bounds in the operand that is not chosen; a pad does. If a stage has
// no reduction points, its values are not evaluated.
#ifndef EMBER_TENSOR_EVALUATOR_EVALUATOR_H_
#define EMBER_TENSOR_EVALUATOR_EVALUATOR_H_

#include <cstdint>
#include <span>

#include "base/interrupt.h"
#include "base/status.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

struct EvaluateOptions {
  // True if sums and products of f32 are accumulated in f64 and rounded once.
  // Results that may differ within a tolerance are compared with such results.
  bool accumulate_in_f64 = false;
  // Memory for temporaries, one pointer per temporary in the dispatch's order.
  // If empty, the evaluation allocates its own.
  std::span<void* const> temporaries;
  // Interrupt that is checked from time to time; null if the evaluation cannot
  // be stopped.
  const Interrupt* interrupt = nullptr;
};

// Evaluates a verified dispatch. `buffers` has one pointer per input and output
// in the dispatch's order, each to as many elements as its extents say,
// row-major. Errors: those of ConcreteHeader::Evaluate for the parameters; an
// index out of range, with a message that names dispatch, buffer, index and
// extent; the status of the interrupt if it stops the evaluation.
Status Evaluate(const Dispatch& dispatch, std::span<const int64_t> parameters,
                std::span<void* const> buffers, EvaluateOptions options);
// Evaluates like Evaluate, but with a header that the caller has computed
// already.
Status EvaluateFor(const Dispatch& dispatch, const ConcreteHeader& header,
                   std::span<void* const> buffers,
                   const EvaluateOptions& options);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_EVALUATOR_EVALUATOR_H_
