#include "tensor/analysis/self_copy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/instructions.h"

namespace ember::tensor {
namespace {

// A sum of multiples of axes and parameters, and a constant. Arithmetic wraps,
// as that of the registers does.
struct LinearForm {
  // Multiples by the opcode, kAxis or kParameter, and the number.
  std::map<std::pair<Opcode, uint64_t>, uint64_t> terms;
  uint64_t constant = 0;

  bool operator==(const LinearForm&) const = default;
  bool is_constant() const { return terms.empty(); }

  void Add(const LinearForm& other, uint64_t factor) {
    constant += other.constant * factor;
    for (const auto& [term, multiple] : other.terms) {
      if ((terms[term] += multiple * factor) == 0) terms.erase(term);
    }
  }
};

class LinearReader {
 public:
  explicit LinearReader(const Dispatch& dispatch) : dispatch_(dispatch) {}

  // Returns the form of an i64 register; nullopt if it has none, or if it takes
  // too many steps to find it.
  std::optional<LinearForm> Read(Register reg) {
    if (--steps_ < 0) return std::nullopt;
    const Instruction& in = dispatch_.instructions[reg];
    LinearForm form;
    switch (in.opcode) {
      case Opcode::kConstant:
        form.constant = in.immediate;
        return form;
      case Opcode::kParameter:
      case Opcode::kAxis:
        form.terms[{in.opcode, in.immediate}] = 1;
        return form;
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kMultiply:
        break;
      default:
        return std::nullopt;
    }
    std::optional<LinearForm> a = Read(in.a), b = Read(in.b);
    if (!a || !b) return std::nullopt;
    if (in.opcode == Opcode::kMultiply) {
      if (!a->is_constant()) std::swap(a, b);
      if (!a->is_constant()) return std::nullopt;
      form.Add(*b, a->constant);
      return form;
    }
    a->Add(*b, in.opcode == Opcode::kAdd ? 1 : ~uint64_t{0});
    return a;
  }

 private:
  const Dispatch& dispatch_;
  int steps_ = 64;
};

std::optional<LinearForm> FormOf(const Dispatch& dispatch, Register reg) {
  return LinearReader(dispatch).Read(reg);
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

// The range that an index of a store covers: begin + i for i < extent.
struct IndexRange {
  LinearForm begin, extent;
};

std::optional<IndexRange> RangeOf(const Dispatch& dispatch, const Stage& stage,
                                  Register index) {
  std::optional<LinearForm> form = FormOf(dispatch, index);
  if (!form) return std::nullopt;
  IndexRange range{.extent = {.terms = {}, .constant = 1}};
  bool has_axis = false;
  for (const auto& [term, multiple] : form->terms) {
    if (term.first != Opcode::kAxis) continue;
    if (has_axis || multiple != 1) return std::nullopt;
    has_axis = true;
    const std::optional<LinearForm> extent =
        FormOf(dispatch, stage.spatial[term.second].extent);
    if (!extent) return std::nullopt;
    range.extent = *extent;
  }
  std::erase_if(form->terms, [](const auto& term) {
    return term.first.first == Opcode::kAxis;
  });
  range.begin = *std::move(form);
  return range;
}

LinearForm EndOf(const IndexRange& range) {
  LinearForm end = range.begin;
  end.Add(range.extent, 1);
  return end;
}

// True if the ranges follow each other in some order, from 0 to the extent.
bool IsChain(std::vector<IndexRange> ranges, const LinearForm& extent) {
  LinearForm end;
  while (!ranges.empty()) {
    const auto next = std::ranges::find(ranges, end, &IndexRange::begin);
    if (next == ranges.end()) return false;
    end = EndOf(*next);
    ranges.erase(next);
  }
  return end == extent;
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
    if (from == store->indices[d]) continue;
    const std::optional<LinearForm> form = FormOf(dispatch, from);
    if (!form || form != FormOf(dispatch, store->indices[d])) return false;
  }
  return true;
}

bool StorePartition(const Dispatch& dispatch,
                    std::span<const Stage* const> stages, uint32_t buffer) {
  const std::vector<Register>& extents = dispatch.buffers[buffer].extents;
  bool has_chain = false;
  for (size_t d = 0; d < extents.size(); ++d) {
    const std::optional<LinearForm> extent = FormOf(dispatch, extents[d]);
    if (!extent) return false;
    std::vector<IndexRange> ranges;
    bool covers = true;
    for (const Stage* stage : stages) {
      const Store* const store = OnlyStore(*stage, buffer);
      if (store == nullptr) return false;
      const auto range = RangeOf(dispatch, *stage, store->indices[d]);
      if (!range) return false;
      covers &= range->begin == LinearForm() && range->extent == *extent;
      ranges.push_back(*range);
    }
    if (covers) continue;
    if (has_chain || !IsChain(std::move(ranges), *extent)) return false;
    has_chain = true;
  }
  return has_chain || stages.size() == 1;
}

}  // namespace ember::tensor
