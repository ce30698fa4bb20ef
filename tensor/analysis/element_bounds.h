// Computes the range in which a single element of a dispatch's results must be.
// The computation starts from the inputs, in f64, allows all rounding errors
// that an executor may make, and evaluates only values on which the element
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
// Unknown if the steps do not suffice, if the element depends on the earlier
// contents of an output, or if any value is right (a quotient by what may be
// zero).
//
// Refers to dispatch, header and inputs, which must outlive it and not change.
// Not thread-safe.
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
  // Factor by which the error may exceed a few roundings if the executor sums
  // other products than the dispatch says (Winograd convolutions).
  double error_growth = 1;
};

// Number of roundings that error_growth multiplies: enough for a sum of such
// products of one magnitude.
inline constexpr double kGrownRoundings = 32;

class ElementBounds {
 public:
  // Makes bounds for one call. `inputs` are the contents of the input buffers,
  // in order.
  ElementBounds(const Dispatch& dispatch, const ConcreteHeader& header,
                std::span<const void* const> inputs, BoundsOptions options);
  ~ElementBounds();

  // Returns the range of an element after all stages. Elements are numbered row
  // by row.
  ValueRange Of(uint32_t buffer, int64_t element);

  // Returns the part of most_steps that is left. At 0 every further range is
  // unknown.
  int64_t steps_left() const;

 private:
  class Evaluator;
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_ELEMENT_BOUNDS_H_
