#include "jit/backend/iteration_formulas.h"

#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "jit/backend/formula_builder.h"
#include "jit/loops/walk.h"

namespace ember::jit {
namespace {

using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using tensor::Node;
using tensor::Opcode;

// Limits within which sums and multiples of parameters do not overflow: the
// largest magnitude of a parameter, and of the factor of a multiple. A call
// with a larger parameter counts as kMaxIterations iterations.
constexpr int64_t kMaxParameter = int64_t{1} << 40;
constexpr int64_t kMaxFactor = int64_t{1} << 16;

// Formulas of the lowest and the highest value of an expression; empty if the
// value is not known.
struct Range {
  std::optional<uint32_t> low, high;
};

class Counter {
 public:
  Counter(const loops::LoopNest& nest, vm::KernelImage& image)
      : nest_(nest), formulas_(nest.pool, image.formulas) {}

  uint32_t Count(const loops::Phase& phase) {
    uint32_t count = Count(phase.body).on;
    if (!is_derived_) return count;
    for (size_t i = 0; i < nest_.parameters.size(); ++i)
      count = WithinLimits(formulas_.Parameter(i), count);
    return count;
  }

 private:
  uint32_t Constant(int64_t value) { return formulas_.Constant(value); }
  uint32_t Apply(Opcode opcode, uint32_t a, uint32_t b) {
    return formulas_.Apply(opcode, a, b);
  }
  uint32_t AtMost(uint32_t value, int64_t most) {
    return Apply(Opcode::kMinimum, value, Constant(most));
  }
  uint32_t AtLeast(uint32_t value, int64_t least) {
    return Apply(Opcode::kMaximum, value, Constant(least));
  }
  // Sum() and Product() combine counts, which are at most kMaxIterations, so
  // the sum or product cannot overflow. They return at most kMaxIterations,
  // too.
  uint32_t Sum(uint32_t a, uint32_t b) {
    return AtMost(Apply(Opcode::kAdd, a, b), kMaxIterations);
  }
  uint32_t Product(uint32_t a, uint32_t b) {
    return AtMost(Apply(Opcode::kMultiply, a, b), kMaxIterations);
  }
  uint32_t WithinLimits(uint32_t parameter, uint32_t count) {
    const uint32_t many = Constant(kMaxIterations);
    const uint32_t small =
        formulas_.IfLess(parameter, Constant(-kMaxParameter), many, count);
    return formulas_.IfLess(Constant(kMaxParameter), parameter, many, small);
  }

  // Numbers of iterations of one block for an invocation that runs it (`on`),
  // and for one that is masked off while others of its subgroup run it (`off`);
  // jit/loops/analysis/iterations.cc defines both.
  struct IterationCounts {
    uint32_t on, off;
  };

  IterationCounts Count(const Block& block) {
    IterationCounts total = {Constant(0), Constant(0)};
    for (const Statement& statement : block) {
      IterationCounts inside = Count(statement.body);
      if (statement.kind == Statement::Kind::kFor) {
        if (statement.loop == LoopKind::kSerial) {
          const uint32_t leaving = Sum(inside.off, Constant(1));
          const uint32_t iterations =
              Product(Times(statement.variable), Sum(inside.on, Constant(1)));
          inside = {Sum(iterations, leaving), leaving};
        } else if (!loops::IsInvocationLoop(statement)) {
          const uint32_t times = Times(statement.variable);
          inside = {Product(times, inside.on), Product(times, inside.off)};
        }
      }
      total = {Sum(total.on, inside.on), Sum(total.off, inside.off)};
    }
    return total;
  }

  // Returns the formula of an upper bound on the extent of the loop over the
  // variable: its number of iterations.
  uint32_t Times(NodeId variable) {
    const std::optional<uint32_t> extent =
        RangeOf(loops::ExtentOf(nest_.pool, variable)).high;
    if (!extent) return Constant(kMaxIterations);
    return AtMost(AtLeast(*extent, 0), kMaxIterations);
  }

  // True if the expression depends only on constants and parameters of the
  // call, not on loop variables or memory.
  bool IsOfCall(NodeId root) {
    for (const NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      const Opcode opcode = nest_.pool[id].opcode;
      if (opcode == Opcode::kAxis || opcode == Opcode::kLoad ||
          opcode == Opcode::kPad)
        return false;
    }
    return true;
  }

  // Returns the formulas of the range of an i64 expression.
  Range RangeOf(NodeId root) {
    for (const NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      if (ranges_.contains(id)) continue;
      Range range;
      if (nest_.pool[id].type == DType::kI64) {
        if (IsOfCall(id)) {
          range.low = range.high = formulas_.Add(id);
        } else {
          range = Noted(nest_.pool[id], Derive(nest_.pool[id]));
        }
      }
      ranges_.emplace(id, range);
    }
    return ranges_.at(root);
  }

  Range Noted(const Node& node, Range range) {
    const tensor::Interval noted = node.range;
    if (noted.low > -kMaxParameter)
      range.low =
          range.low ? AtLeast(*range.low, noted.low) : Constant(noted.low);
    if (noted.high < kMaxParameter)
      range.high =
          range.high ? AtMost(*range.high, noted.high) : Constant(noted.high);
    return range;
  }

  std::optional<uint32_t> Both(Opcode opcode, std::optional<uint32_t> a,
                               std::optional<uint32_t> b) {
    if (!a || !b) return std::nullopt;
    return Apply(opcode, *a, *b);
  }
  // Combines two bounds, one of each operand of a minimum or maximum, by
  // `opcode`. If only one of them is known, returns that one.
  std::optional<uint32_t> Either(Opcode opcode, std::optional<uint32_t> a,
                                 std::optional<uint32_t> b) {
    return a && b ? Both(opcode, a, b) : a ? a : b;
  }

  Range Derive(const Node& node) {
    is_derived_ = true;
    // An axis or a load may have operands whose ranges have not been computed;
    // they count as unknown.
    const auto operand = [&](size_t i) {
      const auto found = i < node.operands.size()
                             ? ranges_.find(node.operands[i])
                             : ranges_.end();
      return found == ranges_.end() ? Range() : found->second;
    };
    const Range a = operand(0), b = operand(1);
    switch (node.opcode) {
      case Opcode::kAxis: {
        const Range extent = RangeOf(node.operands[0]);
        if (!extent.high) return {Constant(0), std::nullopt};
        return {Constant(0), Apply(Opcode::kSubtract, AtLeast(*extent.high, 1),
                                   Constant(1))};
      }
      case Opcode::kAdd:
        return {Both(Opcode::kAdd, a.low, b.low),
                Both(Opcode::kAdd, a.high, b.high)};
      case Opcode::kSubtract:
        return {Both(Opcode::kSubtract, a.low, b.high),
                Both(Opcode::kSubtract, a.high, b.low)};
      case Opcode::kMinimum:
        return {Both(Opcode::kMinimum, a.low, b.low),
                Either(Opcode::kMinimum, a.high, b.high)};
      case Opcode::kMaximum:
        return {Either(Opcode::kMaximum, a.low, b.low),
                Both(Opcode::kMaximum, a.high, b.high)};
      case Opcode::kSelect: {
        const Range c = operand(2);
        return {Both(Opcode::kMinimum, b.low, c.low),
                Both(Opcode::kMaximum, b.high, c.high)};
      }
      case Opcode::kMultiply:
        return ConstantOf(b)   ? Multiple(a, *ConstantOf(b))
               : ConstantOf(a) ? Multiple(b, *ConstantOf(a))
                               : Range();
      case Opcode::kFloorDivide: {
        if (ConstantOf(b).value_or(0) <= 0) return {};
        return {Both(Opcode::kFloorDivide, a.low, b.low),
                Both(Opcode::kFloorDivide, a.high, b.high)};
      }
      case Opcode::kModulo: {
        const int64_t divisor = ConstantOf(b).value_or(0);
        if (divisor <= 0) return {};
        return {Constant(0), Constant(divisor - 1)};
      }
      default:
        return {};
    }
  }

  std::optional<int64_t> ConstantOf(const Range& range) const {
    if (!range.low || range.low != range.high) return std::nullopt;
    return formulas_.ConstantOf(*range.low);
  }

  Range Multiple(const Range& range, int64_t factor) {
    if (std::abs(factor) > kMaxFactor) return {};
    const std::optional<uint32_t> by = Constant(factor);
    const auto low = Both(Opcode::kMultiply, range.low, by);
    const auto high = Both(Opcode::kMultiply, range.high, by);
    return factor < 0 ? Range{high, low} : Range{low, high};
  }

  const loops::LoopNest& nest_;
  FormulaBuilder formulas_;
  std::unordered_map<NodeId, Range> ranges_;
  // True once a range was derived from the ranges of operands. Such derivations
  // hold only if parameters are in -kMaxParameter..kMaxParameter, so Count()
  // then adds a test of the parameters.
  bool is_derived_ = false;
};

}  // namespace

void AddIterations(const loops::LoopNest& nest, vm::KernelImage& image) {
  Counter counter(nest, image);
  image.iterations.clear();
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases)
      image.iterations.push_back(counter.Count(phase));
  }
}

}  // namespace ember::jit
