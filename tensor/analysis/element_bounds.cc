#include "tensor/analysis/element_bounds.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensor/analysis/reduction_bounds.h"
#include "tensor/analysis/store_points.h"
#include "tensor/combine.h"
#include "tensor/points.h"
#include "tensor/scalar.h"
#include "tensor/update.h"

namespace ember::tensor {
namespace {

// Largest number of elements among which a load may choose if its indices are
// uncertain. With more, the range of the load is unknown.
constexpr int64_t kMaxElements = 16;

}  // namespace

class ElementBounds::Evaluator {
 public:
  Evaluator(const Dispatch& dispatch, const ConcreteHeader& header,
            std::span<const void* const> inputs, BoundsOptions options)
      : dispatch_(dispatch),
        header_(header),
        inputs_(inputs),
        options_(options),
        steps_left_(options.most_steps),
        registers_(dispatch.instructions.size()),
        stages_(dispatch.stages.size()) {
    for (const Buffer& buffer : dispatch.buffers)
      extents_.push_back(header.Extents(buffer));
    for (uint32_t i = 0; i < dispatch.header_end; ++i) {
      registers_[i] =
          ValueRange::Exactly(header.bits(i), dispatch.instructions[i].type);
    }
    for (size_t i = 0; i < stages_.size(); ++i) Prepare(i);
  }

  ValueRange Of(uint32_t buffer, int64_t element) {
    return ElementBefore(stages_.size(), buffer, element);
  }
  int64_t steps_left() const { return std::max<int64_t>(steps_left_, 0); }

 private:
  // Returns the range of an element before stage number `stage` runs, that is
  // after all earlier stages.
  ValueRange ElementBefore(size_t stage, uint32_t buffer, int64_t element) {
    if (dispatch_.buffers[buffer].kind == BufferKind::kInput) {
      const DType type = dispatch_.buffers[buffer].type;
      return ValueRange::Exactly(LoadElement(inputs_[buffer], element, type),
                                 type);
    }
    for (size_t i = stage; i-- > 0;) {
      for (size_t s = dispatch_.stages[i].stores.size(); s-- > 0;) {
        if (dispatch_.stages[i].stores[s].buffer != buffer) continue;
        bool is_stored = false;
        const ValueRange value = StoredBy(i, s, element, is_stored);
        if (is_stored || steps_left_ <= 0) return value;
      }
    }
    // No earlier stage stores to the element. In a temporary it is 0; in an
    // output its earlier contents are not known.
    return dispatch_.buffers[buffer].kind == BufferKind::kTemporary
               ? ValueRange::Exactly(0, dispatch_.buffers[buffer].type)
               : ValueRange::Unknown();
  }

  enum Part : uint8_t { kValues = 1, kStoreIndices = 2, kFold = 4 };

  struct StageState {
    std::vector<int64_t> reduction;
    std::vector<int64_t> point;  // the current point of the stage, spatial axes
                                 // first
    // Registers of the stage's instructions on which its values, store indices
    // and fold results depend, in the order of evaluation.
    std::vector<Register> values, store_indices, fold;
    std::vector<ValueRange> accumulators, elements;
    // For each store: finds the points that store to a given element. Made when
    // the store is first examined.
    std::vector<std::unique_ptr<StorePoints>> points;
    // For each store: the ranges of elements that were computed before, by the
    // element's position.
    std::vector<std::unordered_map<int64_t, ValueRange>> stored;
  };

  void Prepare(size_t number) {
    const Stage& stage = dispatch_.stages[number];
    StageState& state = stages_[number];
    state.reduction = header_.Extents(stage.reduction);
    state.point.resize(stage.spatial.size() + stage.reduction.size());
    state.points.resize(stage.stores.size());
    state.stored.resize(stage.stores.size());
    std::vector<uint8_t> parts(stage.end - stage.begin);
    const auto mark = [&](Register reg, uint8_t bits) {
      if (reg >= stage.begin) parts[reg - stage.begin] |= bits;
    };
    for (const Register reg : stage.values) mark(reg, kValues);
    for (const Register reg : stage.fold.results) mark(reg, kFold);
    for (const Register reg : stage.fold.initial) mark(reg, kFold);
    for (const Store& store : stage.stores) {
      for (const Register reg : store.indices) mark(reg, kStoreIndices);
    }
    for (Register reg = stage.end; reg-- > stage.begin;) {
      dispatch_.ForEachOperand(
          dispatch_.instructions[reg],
          [&](Register operand) { mark(operand, parts[reg - stage.begin]); });
    }
    for (Register reg = stage.begin; reg < stage.end; ++reg) {
      const uint8_t part = parts[reg - stage.begin];
      if (part & kValues) state.values.push_back(reg);
      if (part & kStoreIndices) state.store_indices.push_back(reg);
      if (part & kFold) state.fold.push_back(reg);
    }
  }

  std::vector<int64_t> IndicesOf(uint32_t buffer, int64_t element) const {
    const std::vector<int64_t>& extents = extents_[buffer];
    std::vector<int64_t> indices(extents.size());
    for (size_t i = extents.size(); i-- > 0;) {
      indices[i] = element % extents[i];
      element /= extents[i];
    }
    return indices;
  }

  // --- the value that a stage stores to an element ---

  ValueRange StoredBy(size_t number, size_t store_number, int64_t element,
                      bool& is_stored) {
    const Stage& stage = dispatch_.stages[number];
    StageState& state = stages_[number];
    const Store& store = stage.stores[store_number];
    if (const auto known = state.stored[store_number].find(element);
        known != state.stored[store_number].end()) {
      is_stored = true;
      return known->second;
    }
    if (state.points[store_number] == nullptr) {
      state.points[store_number] =
          std::make_unique<StorePoints>(dispatch_, stage, store, header_);
    }
    StorePoints& store_points = *state.points[store_number];
    if (!store_points.is_direct() && store_points.point_count() > steps_left_) {
      steps_left_ = 0;
      return ValueRange::Unknown();
    }
    const std::vector<StorePoints::Point>* found = store_points.Of(
        IndicesOf(store.buffer, element),
        [&](const StorePoints::Point& point, std::vector<int64_t>& indices) {
          std::ranges::copy(point, state.point.begin());
          for (const Register reg : state.store_indices) Compute(number, reg);
          for (size_t i = 0; i < indices.size(); ++i) {
            const ValueRange& index = registers_[store.indices[i]];
            if (!index.is_exact()) return false;
            indices[i] = static_cast<int64_t>(index.bits[0]);
          }
          return steps_left_ > 0;
        });
    is_stored = found == nullptr || !found->empty();
    if (!is_stored || found == nullptr) return ValueRange::Unknown();
    const DType type = dispatch_.buffers[store.buffer].type;
    const bool assigns = store.update == Update::kAssign;
    const std::vector<StorePoints::Point> points = *found;
    ValueRange result;
    // An update such as += starts from the value that the element has before
    // the stage.
    if (!assigns) result = ElementBefore(number, store.buffer, element);
    for (size_t i = 0; i < points.size(); ++i) {
      const ValueRange value = ResultAt(number, store_number, points[i]);
      if (!assigns) {
        result = Apply(OpcodeOf(store.update), type, type, {result, value, {}});
      } else {
        result = i == 0 ? value : Union(result, value, type);
      }
    }
    if (steps_left_ > 0) state.stored[store_number].emplace(element, result);
    return result;
  }

  // --- the results at one point of a stage ---

  ValueRange ResultAt(size_t number, size_t store_number,
                      const StorePoints::Point& point) {
    const Stage& stage = dispatch_.stages[number];
    StageState& state = stages_[number];
    std::ranges::fill(state.point, 0);
    std::ranges::copy(point, state.point.begin());
    const Register value = stage.values[store_number];
    const DType type = dispatch_.instructions[value].type;
    if (stage.combiner == Combiner::kFold) return FoldAt(number, store_number);
    SumBounds sum(type);
    ProductBounds product(type);
    ValueRange result = Initial(stage.combiner, type);
    if (HasPoints(state.reduction)) {
      const std::span<int64_t> reduction_point =
          std::span(state.point).subspan(stage.spatial.size());
      do {
        for (const Register reg : state.values) Compute(number, reg);
        if (steps_left_ <= 0) return ValueRange::Unknown();
        const ValueRange& term = registers_[value];
        if (stage.combiner == Combiner::kNone) return term;
        if (stage.combiner == Combiner::kSum && IsFloat(type)) {
          sum.Add(term);
        } else if (stage.combiner == Combiner::kProduct && IsFloat(type)) {
          product.Add(term);
        } else {
          result =
              Apply(OpcodeOf(stage.combiner), type, type, {result, term, {}});
        }
      } while (NextPoint(reduction_point, state.reduction));
    }
    if (stage.combiner == Combiner::kSum && IsFloat(type))
      return sum.Result(options_.error_growth);
    if (stage.combiner == Combiner::kProduct && IsFloat(type))
      return product.Result();
    return result;
  }

  ValueRange FoldAt(size_t number, size_t store_number) {
    const Stage& stage = dispatch_.stages[number];
    StageState& state = stages_[number];
    const size_t count = stage.values.size();
    // The initial values of a fold depend on constants and the header only, so
    // they are the same at each point.
    state.accumulators.assign(count, {});
    state.elements.assign(count, {});
    for (const Register reg : state.fold) Compute(number, reg);
    for (size_t i = 0; i < count; ++i)
      state.accumulators[i] = registers_[stage.fold.initial[i]];
    if (HasPoints(state.reduction)) {
      const std::span<int64_t> reduction_point =
          std::span(state.point).subspan(stage.spatial.size());
      do {
        for (const Register reg : state.values) Compute(number, reg);
        for (size_t i = 0; i < count; ++i)
          state.elements[i] = registers_[stage.values[i]];
        for (const Register reg : state.fold) Compute(number, reg);
        if (steps_left_ <= 0) return ValueRange::Unknown();
        for (size_t i = 0; i < count; ++i)
          state.accumulators[i] = registers_[stage.fold.results[i]];
      } while (NextPoint(reduction_point, state.reduction));
    }
    return state.accumulators[store_number];
  }

  static ValueRange Initial(Combiner combiner, DType type) {
    switch (combiner) {
      case Combiner::kProduct:
        return ValueRange::Exactly(OneBits(type), type);
      case Combiner::kMinimum:
        return ValueRange::Exactly(LargestBits(type), type);
      case Combiner::kMaximum:
        return ValueRange::Exactly(SmallestBits(type), type);
      default:
        return ValueRange::Exactly(ZeroBits(type), type);
    }
  }

  // --- instructions ---

  void Compute(size_t number, Register reg) {
    if (--steps_left_ <= 0) return;
    const Instruction& instruction = dispatch_.instructions[reg];
    ValueRange& result = registers_[reg];
    const StageState& state = stages_[number];
    switch (instruction.opcode) {
      case Opcode::kConstant:
        result = ValueRange::Exactly(instruction.immediate, instruction.type);
        return;
      case Opcode::kAxis:
        result = ValueRange::Exactly(
            static_cast<uint64_t>(state.point[instruction.immediate]),
            DType::kI64);
        return;
      case Opcode::kAccumulator:
        result = state.accumulators[instruction.immediate];
        return;
      case Opcode::kElement:
        result = state.elements[instruction.immediate];
        return;
      case Opcode::kLoad:
      case Opcode::kPad: {
        const ValueRange loaded = Load(number, instruction);
        registers_[reg] = loaded;
        return;
      }
      default:
        break;
    }
    const int count = RegisterOperandCount(instruction.opcode);
    const DType type =
        dispatch_
            .instructions[instruction.opcode == Opcode::kSelect ? instruction.b
                                                                : instruction.a]
            .type;
    result = Apply(instruction.opcode, type, instruction.type,
                   {registers_[instruction.a],
                    count > 1 ? registers_[instruction.b] : ValueRange(),
                    count > 2 ? registers_[instruction.c] : ValueRange()});
  }

  // Returns the range of a Load or Pad: the union of the ranges of all elements
  // that its indices may choose.
  ValueRange Load(size_t number, const Instruction& instruction) {
    const uint32_t buffer = instruction.a;
    const std::vector<int64_t>& extents = extents_[buffer];
    std::vector<std::pair<int64_t, int64_t>> ranges;
    int64_t choices = 1;
    for (size_t i = 0; i < extents.size(); ++i) {
      const ValueRange& index =
          registers_[dispatch_.operands[instruction.b + i]];
      if (!index.is_known || index.high - index.low >= kMaxElements)
        return ValueRange::Unknown();
      ranges.emplace_back(static_cast<int64_t>(index.low),
                          static_cast<int64_t>(index.high));
      choices *= ranges.back().second - ranges.back().first + 1;
      if (choices > kMaxElements) return ValueRange::Unknown();
    }
    ValueRange result;
    for (int64_t choice = 0; choice < choices; ++choice) {
      int64_t rest = choice, element = 0;
      bool is_inside = true;
      for (size_t i = 0; i < extents.size(); ++i) {
        const int64_t width = ranges[i].second - ranges[i].first + 1;
        const int64_t index = ranges[i].first + rest % width;
        rest /= width;
        is_inside &= index >= 0 && index < extents[i];
        element = element * extents[i] + index;
      }
      // Out of bounds, a pad gives its default value. A load makes the run
      // fail, so its value does not matter and counts as unknown.
      const ValueRange value =
          is_inside ? ElementBefore(number, buffer, element)
          : instruction.opcode == Opcode::kPad ? registers_[instruction.c]
                                               : ValueRange::Unknown();
      result = choice == 0 ? value : Union(result, value, instruction.type);
    }
    return result;
  }

  const Dispatch& dispatch_;
  const ConcreteHeader& header_;
  const std::span<const void* const> inputs_;
  const BoundsOptions options_;
  int64_t steps_left_;
  std::vector<std::vector<int64_t>> extents_;  // for each buffer, its extents
  std::vector<ValueRange> registers_;
  std::vector<StageState> stages_;
};

ElementBounds::ElementBounds(const Dispatch& dispatch,
                             const ConcreteHeader& header,
                             std::span<const void* const> inputs,
                             BoundsOptions options)
    : evaluator_(
          std::make_unique<Evaluator>(dispatch, header, inputs, options)) {}

ElementBounds::~ElementBounds() = default;

ValueRange ElementBounds::Of(uint32_t buffer, int64_t element) {
  return evaluator_->Of(buffer, element);
}

int64_t ElementBounds::steps_left() const { return evaluator_->steps_left(); }

}  // namespace ember::tensor
