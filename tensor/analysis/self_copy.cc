#include "tensor/analysis/self_copy.h"

#include <cstddef>
#include <vector>

#include "tensor/instructions.h"

namespace ember::tensor {
namespace {

// A linear expression: a constant plus multiples of axes and parameters. Its
// arithmetic wraps, as that of the registers does. It holds few terms and
// allocates no memory, because the smallest runtime contains this file.
class LinearForm {
 public:
  static LinearForm Constant(uint64_t value) {
    LinearForm form;
    form.constant_ = value;
    return form;
  }
  // Returns the form of a single axis or parameter.
  static LinearForm Variable(Opcode opcode, uint64_t number) {
    LinearForm form;
    form.terms_[0] = {opcode, number, 1};
    form.count_ = 1;
    return form;
  }
  static LinearForm Unknown() {
    LinearForm form;
    form.is_known_ = false;
    return form;
  }

  struct Term {
    // kind of the factor: kAxis or kParameter
    Opcode opcode = Opcode::kConstant;
    uint64_t number = 0;
    uint64_t multiple = 0;
  };
  std::span<const Term> terms() const { return {terms_, count_}; }
  uint64_t constant() const { return constant_; }
  // False if the register is not linear, or has too many terms.
  bool is_known() const { return is_known_; }
  bool is_constant() const { return is_known_ && count_ == 0; }

  // Returns the sum of this linear form and a multiple of another one.
  LinearForm Plus(const LinearForm& other, uint64_t factor) const {
    LinearForm sum = *this;
    sum.is_known_ &= other.is_known_;
    sum.constant_ += other.constant_ * factor;
    for (const Term& term : other.terms())
      sum.AddTerm({term.opcode, term.number, term.multiple * factor});
    return sum;
  }
  bool Equals(const LinearForm& other) const {
    const LinearForm difference = Plus(other, ~uint64_t{0});
    return difference.is_constant() && difference.constant_ == 0;
  }

 private:
  static constexpr size_t kMaxTerms = 6;

  void AddTerm(const Term& added) {
    for (size_t i = 0; i < count_; ++i) {
      Term& term = terms_[i];
      if (term.opcode != added.opcode || term.number != added.number) continue;
      term.multiple += added.multiple;
      if (term.multiple == 0) term = terms_[--count_];
      return;
    }
    if (count_ == kMaxTerms) {
      is_known_ = false;
    } else if (added.multiple != 0) {
      terms_[count_++] = added;
    }
  }

  Term terms_[kMaxTerms];
  size_t count_ = 0;
  uint64_t constant_ = 0;
  bool is_known_ = true;
};

// Returns the linear form of an i64 register. `depth` limits the recursion.
LinearForm FormOf(const Dispatch& dispatch, Register reg, int depth = 6) {
  const Instruction& in = dispatch.instructions[reg];
  switch (in.opcode) {
    case Opcode::kConstant:
      return LinearForm::Constant(in.immediate);
    case Opcode::kParameter:
    case Opcode::kAxis:
      return LinearForm::Variable(in.opcode, in.immediate);
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
      break;
    default:
      return LinearForm::Unknown();
  }
  if (depth == 0) return LinearForm::Unknown();
  const LinearForm a = FormOf(dispatch, in.a, depth - 1);
  const LinearForm b = FormOf(dispatch, in.b, depth - 1);
  if (in.opcode != Opcode::kMultiply)
    return a.Plus(b, in.opcode == Opcode::kAdd ? 1 : ~uint64_t{0});
  const LinearForm zero = LinearForm::Constant(0);
  if (a.is_constant()) return zero.Plus(b, a.constant());
  return b.is_constant() ? zero.Plus(a, b.constant()) : LinearForm::Unknown();
}

// Returns the only store of the stage to the buffer, if it assigns; null
// otherwise.
const Store* OnlyStore(const Stage& stage, uint32_t buffer) {
  const Store* only = nullptr;
  for (const Store& store : stage.stores) {
    if (store.buffer != buffer) continue;
    if (only != nullptr || store.update != Update::kAssign) return nullptr;
    only = &store;
  }
  return only;
}

// The range of indices in one dim that a store covers: begin + i for 0 <= i <
// extent.
struct IndexRange {
  LinearForm begin, extent;

  bool is_known() const { return begin.is_known() && extent.is_known(); }
};

// Returns the range of indices that the stage's store covers in dim d of the
// buffer.
IndexRange RangeOf(const Dispatch& dispatch, const Stage& stage,
                   uint32_t buffer, size_t d) {
  const IndexRange unknown = {LinearForm::Unknown(), LinearForm::Unknown()};
  const Store* const store = OnlyStore(stage, buffer);
  if (store == nullptr) return unknown;
  const LinearForm index = FormOf(dispatch, store->indices[d]);
  IndexRange range = {index, LinearForm::Constant(1)};
  int axes = 0;
  for (const LinearForm::Term& term : index.terms()) {
    if (term.opcode != Opcode::kAxis) continue;
    if (++axes > 1 || term.multiple != 1) return unknown;
    range.begin = range.begin.Plus(
        LinearForm::Variable(Opcode::kAxis, term.number), ~uint64_t{0});
    range.extent = FormOf(dispatch, stage.spatial[term.number].extent);
  }
  return range;
}

// True if the ranges of the stages in dim d, in some order, cover the indices
// from 0 to the extent without gaps or overlaps.
bool IsChain(const Dispatch& dispatch, std::span<const Stage* const> stages,
             uint32_t buffer, size_t d, const LinearForm& extent) {
  if (stages.size() > 64) return false;
  LinearForm end;
  uint64_t covered = 0;  // bit i: the range of stage i was taken
  for (size_t count = 0; count < stages.size(); ++count) {
    size_t next = stages.size();
    for (size_t i = 0; i < stages.size(); ++i) {
      const IndexRange range = RangeOf(dispatch, *stages[i], buffer, d);
      if (!range.is_known()) return false;
      if ((covered >> i & 1) == 0 && range.begin.Equals(end)) next = i;
    }
    if (next == stages.size()) return false;
    covered |= uint64_t{1} << next;
    end = end.Plus(RangeOf(dispatch, *stages[next], buffer, d).extent, 1);
  }
  return end.Equals(extent);
}

}  // namespace

bool IsSelfCopy(const Dispatch& dispatch, const Stage& stage, uint32_t input,
                uint32_t output) {
  if (stage.combiner != Combiner::kNone || stage.stores.size() != 1)
    return false;
  const Store* const store = OnlyStore(stage, output);
  if (store == nullptr) return false;
  const Instruction& load = dispatch.instructions[stage.values[0]];
  if (load.opcode != Opcode::kLoad || load.a != input ||
      load.type != dispatch.buffers[output].type ||
      dispatch.buffers[input].extents.size() != store->indices.size()) {
    return false;
  }
  for (size_t d = 0; d < store->indices.size(); ++d) {
    const Register from = dispatch.operands[load.b + d];
    if (from != store->indices[d] &&
        !FormOf(dispatch, from).Equals(FormOf(dispatch, store->indices[d])))
      return false;
  }
  return true;
}

bool StorePartition(const Dispatch& dispatch,
                    std::span<const Stage* const> stages, uint32_t buffer) {
  const std::vector<Register>& extents = dispatch.buffers[buffer].extents;
  bool has_chain = false;
  for (size_t d = 0; d < extents.size(); ++d) {
    const LinearForm extent = FormOf(dispatch, extents[d]);
    bool covers = true;
    for (const Stage* stage : stages) {
      const IndexRange range = RangeOf(dispatch, *stage, buffer, d);
      covers &= range.is_known() && range.begin.Equals(LinearForm()) &&
                range.extent.Equals(extent);
    }
    if (covers) continue;
    if (has_chain || !IsChain(dispatch, stages, buffer, d, extent))
      return false;
    has_chain = true;
  }
  return has_chain || stages.size() == 1;
}

}  // namespace ember::tensor
