// Judges single elements of a dispatch's results: computes one from the inputs,
// in f64 and with all rounding errors that an executor may make, and nothing
// that it does not depend on. For those who compare executors on real operands,
// where a fixed tolerance is too small for sums that cancel and too large for
// everything else.
//
//   EMBER_ASSIGN_OR_RETURN(ConcreteHeader header,
//                          ConcreteHeader::Evaluate(dispatch, parameters));
//   ElementBounds bounds(dispatch, header, inputs, {});
//   const ValueRange range = bounds.Of(output, element);
//   if (!range.Contains(LoadElement(data, element, type), type)) wrong();
//
// A float sum may be off by SumErrorBound (tensor/sum_error.h). Unknown: the
// element cannot be told within the steps, depends on what an output held
// before, or anything is right (a quotient by what may be zero).
//
// Refers to dispatch, header and inputs, which must outlive it and not change.
// Not thread-safe.
#ifndef EMBER_TENSOR_ELEMENT_BOUNDS_H_
#define EMBER_TENSOR_ELEMENT_BOUNDS_H_

#include <cstdint>
#include <memory>
#include <span>

#include "tensor/dispatch.h"
#include "tensor/index_algebra.h"
#include "tensor/value_range.h"

namespace ember::tensor {

struct BoundsOptions {
  // Instructions that all elements together may take, some tens of nanoseconds
  // each.
  int64_t most_steps = int64_t{1} << 20;
  // Where the executor adds up other products than the dispatch says
  // (Winograd's convolutions): by how much more than a few roundings it may be
  // off.
  double error_growth = 1;
};

// Those few: what such a sum of products of one magnitude takes.
inline constexpr double kGrownRoundings = 32;

class ElementBounds {
 public:
  // inputs: the contents of the input buffers, in order.
  ElementBounds(const Dispatch& dispatch, const ConcreteHeader& header,
                std::span<const void* const> inputs, BoundsOptions options);
  ~ElementBounds();

  // After all stages; elements are counted row by row.
  ValueRange Of(uint32_t buffer, int64_t element);

  // Of most_steps, what is left. At 0 everything else is unknown.
  int64_t steps_left() const;

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ELEMENT_BOUNDS_H_
