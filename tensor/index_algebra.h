// What index expressions are once the parameters are numbers: extents, affine
// forms and ranges. For the interpreter, which plans its strides and bounds
// checks from it, and for schedules.
//
//   EMBER_ASSIGN_OR_RETURN(ConcreteHeader header,
//                          ConcreteHeader::Evaluate(dispatch, parameters));
//   StageAnalysis analysis(dispatch, dispatch.stages[0], header);
//   // 2*h + dh - 1.
//   std::optional<AffineForm> form = analysis.ToAffine(index);
//   bool safe = analysis.InBounds(load);
//
// Everything here wants a verified dispatch. Objects refer to the dispatch (and
// the analysis to the header), which must outlive them. Thread-compatible.
#ifndef EMBER_TENSOR_INDEX_ALGEBRA_H_
#define EMBER_TENSOR_INDEX_ALGEBRA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"
#include "tensor/interval.h"

namespace ember::tensor {

// The values of the header's registers for given parameters.
class ConcreteHeader {
 public:
  // Errors (one line, naming the dispatch): a wrong number of parameters; i64
  // sums, differences and products that overflow; an extent of a buffer or axis
  // below 0 or above kMaximumExtent (tensor/range_rules.h); a buffer of more
  // than 2^62 bytes or a stage of more than 2^62 points (zero extents counted
  // as 1, so that strides fit too).
  static StatusOr<ConcreteHeader> Evaluate(const Dispatch& dispatch,
                                           std::span<const int64_t> parameters);

  // An i64 register of the header.
  int64_t value(Register reg) const { return static_cast<int64_t>(bits_[reg]); }
  // Any register of the header, as bits of its type (as in
  // Instruction::immediate).
  uint64_t bits(Register reg) const { return bits_[reg]; }

  std::vector<int64_t> Extents(const Buffer& buffer) const;
  std::vector<int64_t> Extents(std::span<const Axis> axes) const;
  // Number of elements.
  int64_t ElementCount(const Buffer& buffer) const;

 private:
  std::vector<uint64_t> bits_;
};

// constant + sum of coefficients[i] * axis i + sum of opaque terms, exact: no
// wrapping occurs for any point of the stage unless an opaque term's own
// computation wraps.
struct AffineForm {
  // A value that is not affine (floordiv, mod, min, a load, ...), as the
  // register that holds it.
  struct Opaque {
    Register reg = 0;
    int64_t coefficient = 0;
    Interval range;
  };
  int64_t constant = 0;
  std::vector<int64_t> coefficients;  // one per axis, spatial axes first
  std::vector<Opaque> opaque;

  bool IsAffine() const { return opaque.empty(); }
  bool IsConstant() const;
};

class StageAnalysis {
 public:
  StageAnalysis(const Dispatch& dispatch, const Stage& stage,
                const ConcreteHeader& header);

  // Extents of all axes, spatial first.
  std::span<const int64_t> axis_extents() const { return axis_extents_; }

  // All values that an integer register of the stage or header can have; full
  // if unknown, and for floats. Of u64 only full is said. In a stage without
  // points (an extent of 0) anything is true.
  Interval RangeOf(Register reg) const;

  // nullopt if the register is not i64 or the form does not fit 64 bits;
  // otherwise a form, possibly with opaque terms. floordiv and mod by constants
  // dissolve where ranges allow.
  std::optional<AffineForm> ToAffine(Register reg) const;
  Interval RangeOf(const AffineForm& form) const;

  // True if it is sure that all indices of the Load, Pad or Store are within
  // the buffer's extents.
  bool InBounds(const Instruction& load) const;
  bool InBounds(const Store& store) const;

 private:
  struct Builder;
  bool InBounds(const Buffer& buffer, std::span<const Register> indices) const;

  const Dispatch& dispatch_;
  const Stage& stage_;
  const ConcreteHeader& header_;
  std::vector<int64_t> axis_extents_;
  std::vector<Interval> ranges_;  // of the stage's registers, from stage_.begin
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_INDEX_ALGEBRA_H_
