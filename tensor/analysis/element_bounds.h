// Computes the range in which a single element of a dispatch's results must be.
// The computation starts from the inputs, in f64, allows all rounding errors
// that an executor may make, and evaluates only the values on which the element
// depends. Code that compares executors on real operands uses it, because a
// fixed tolerance is too small for sums that cancel and too large for
// everything else.
//
//   EMBER_ASSIGN_OR_RETURN(ConcreteHeader header,
//                          ConcreteHeader::Evaluate(dispatch, parameters));
//   ElementBounds bounds(dispatch, header, inputs, {});
//   const ValueRange range = bounds.Of(output, element);
//   if (!range.Contains(LoadElement(data, element, type), type)) wrong();
//
// A float sum may be off by SumErrorBound (tensor/sum_error.h). The range is
// Unknown if the limit on steps is reached, if the element depends on the
// earlier contents of an output, or if every value is possible (as for a
// quotient whose divisor may be zero).
//
// The object refers to dispatch, header and inputs, which must outlive it and
// not change. Not thread-safe.
#ifndef EMBER_TENSOR_ANALYSIS_ELEMENT_BOUNDS_H_
#define EMBER_TENSOR_ANALYSIS_ELEMENT_BOUNDS_H_

#include <cstdint>
#include <memory>
#include <span>

#include "tensor/analysis/index_algebra.h"
#include "tensor/analysis/value_range.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

struct BoundsOptions {
  // Largest number of instructions that all elements together may evaluate;
  // each takes some tens of nanoseconds.
  int64_t most_steps = int64_t{1} << 20;
  // Factor by which the executor's error may exceed that of a few roundings,
  // because it sums other products than those in the dispatch (as Winograd
  // convolutions do). 1: the executor sums the dispatch's own products.
  double error_growth = 1;
};

// Number of roundings by which error_growth is multiplied. It suffices for a
// sum of transformed products (see error_growth) that have similar magnitudes.
inline constexpr double kGrownRoundings = 32;

class ElementBounds {
 public:
  // Prepares the bounds of one call of the dispatch. `inputs` are the contents
  // of the input buffers, in order.
  ElementBounds(const Dispatch& dispatch, const ConcreteHeader& header,
                std::span<const void* const> inputs, BoundsOptions options);
  ~ElementBounds();

  // Returns the range of an element after all stages. `element` is the
  // element's row-major position in the buffer.
  ValueRange Of(uint32_t buffer, int64_t element);

  // Returns the number of instructions that may still be evaluated (of
  // most_steps). Once it is 0, every further range is unknown.
  int64_t steps_left() const;

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_ELEMENT_BOUNDS_H_
