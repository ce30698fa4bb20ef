// Analyses index expressions for given values of the parameters: extents,
// affine forms and ranges. The interpreter derives strides and bounds checks
// from the analysis; schedules use it too.
//
//   EMBER_ASSIGN_OR_RETURN(ConcreteHeader header,
//                          ConcreteHeader::Evaluate(dispatch, parameters));
//   StageAnalysis analysis(dispatch, dispatch.stages[0], header);
//   // 2*h + dh - 1.
//   std::optional<AffineForm> form = analysis.ToAffine(index);
//   bool safe = analysis.InBounds(load);
//
// The dispatch must be verified. Objects refer to the dispatch (and the
// analysis to the header), which must outlive them. Thread-compatible.
#ifndef EMBER_TENSOR_ANALYSIS_INDEX_ALGEBRA_H_
#define EMBER_TENSOR_ANALYSIS_INDEX_ALGEBRA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/concrete_header.h"  // IWYU pragma: export
#include "tensor/dispatch.h"
#include "tensor/interval.h"

namespace ember::tensor {

// An affine form: constant + sum of coefficients[i] * axis i + sum of opaque
// terms. The form is exact: its arithmetic wraps at no point of the stage. Only
// the computation of an opaque term itself may wrap.
struct AffineForm {
  // A term whose value is not affine (a floordiv, mod, min, load and so on):
  // the register that holds the value, and its coefficient.
  struct Opaque {
    Register reg = 0;
    int64_t coefficient = 0;
    Interval range;
  };
  int64_t constant = 0;
  // coefficient of each axis, spatial axes first
  std::vector<int64_t> coefficients;
  std::vector<Opaque> opaque;

  bool IsAffine() const { return opaque.empty(); }
  bool IsConstant() const;
};

class StageAnalysis {
 public:
  StageAnalysis(const Dispatch& dispatch, const Stage& stage,
                const ConcreteHeader& header);

  // Returns the extents of all axes, spatial axes first.
  std::span<const int64_t> axis_extents() const { return axis_extents_; }

  // Returns an interval that contains all values of an integer register of the
  // stage or header. The interval is full if the values are unknown, if the
  // register is a float, and always for u64. In a stage without points (an
  // extent is 0) the interval may be anything.
  Interval RangeOf(Register reg) const;

  // Returns the affine form of a register, possibly with opaque terms. A
  // floordiv or mod by a constant is resolved where the ranges prove its value.
  // Returns nullopt if the register is not i64 or the form does not fit 64
  // bits.
  std::optional<AffineForm> ToAffine(Register reg) const;
  Interval RangeOf(const AffineForm& form) const;

  // True if all indices of the Load, Pad or Store are proved to be within the
  // buffer's extents.
  bool InBounds(const Instruction& load) const;
  bool InBounds(const Store& store) const;

 private:
  struct Builder;
  bool InBounds(const Buffer& buffer, std::span<const Register> indices) const;

  const Dispatch& dispatch_;
  const Stage& stage_;
  const ConcreteHeader& header_;
  std::vector<int64_t> axis_extents_;
  // Ranges of the stage's registers; the first element is that of register
  // stage_.begin.
  std::vector<Interval> ranges_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_INDEX_ALGEBRA_H_
