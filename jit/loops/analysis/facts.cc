#include "jit/loops/analysis/facts.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "jit/loops/analysis/may_share_memory.h"
#include "jit/loops/walk.h"
#include "tensor/range_rules.h"

namespace ember::loops {

using tensor::Interval;
using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

namespace {

bool IsLoad(const Node& node) {
  return node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
}

// True for integer types whose values fit i64, so that a range is an interval
// of i64.
bool IsOrdered(DType type) { return IsInteger(type) && type != DType::kU64; }

int64_t SaturatedAdd(int64_t a, int64_t b) {
  if (const std::optional<int64_t> sum = CheckedAdd(a, b)) return *sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

// Returns the range of a quotient or remainder whose divisor may be 0. The
// instruction table defines the result as 0 in that case, so the range includes
// 0. If an operand may be negative, it is the full range.
Interval DivideOrZero(Opcode opcode, Interval a, Interval divisor) {
  if (a.low < 0 || divisor.low < 0) return Interval::Full();
  if (opcode == Opcode::kFloorDivide) return {0, a.high};
  return {0, std::min(a.high, std::max<int64_t>(divisor.high, 1) - 1)};
}

// Removes `factors` from the list if the list contains all of them. Otherwise
// returns false and leaves the list as it is.
bool Remove(std::vector<NodeId>& list, const std::vector<NodeId>& factors) {
  if (!std::includes(list.begin(), list.end(), factors.begin(),
                     factors.end())) {
    return false;
  }
  std::vector<NodeId> rest;
  std::set_difference(list.begin(), list.end(), factors.begin(), factors.end(),
                      std::back_inserter(rest));
  list = std::move(rest);
  return true;
}

}  // namespace

std::optional<Product> FactorsOf(const tensor::ExpressionPool& pool,
                                 NodeId node) {
  Product product;
  std::vector<NodeId> open = {node};
  while (!open.empty()) {
    const NodeId factor = open.back();
    open.pop_back();
    if (const std::optional<int64_t> value = pool.IntegerConstant(factor)) {
      const std::optional<int64_t> constant =
          CheckedMultiply(product.constant, *value);
      if (*value <= 0 || !constant) return std::nullopt;
      product.constant = *constant;
    } else if (pool[factor].opcode == Opcode::kMultiply) {
      open.insert(open.end(), pool[factor].operands.begin(),
                  pool[factor].operands.end());
      if (open.size() > 16) return std::nullopt;
    } else {
      product.factors.push_back(factor);
      if (product.factors.size() > 16) return std::nullopt;
    }
  }
  std::sort(product.factors.begin(), product.factors.end());
  return product;
}

std::optional<LinearSum> AddScaled(const LinearSum& left,
                                   const LinearSum& right, int64_t scale) {
  LinearSum sum = left;
  const auto scaled = [&](int64_t value, int64_t& to) {
    const std::optional<int64_t> product = CheckedMultiply(value, scale);
    const std::optional<int64_t> total =
        product ? CheckedAdd(to, *product) : std::nullopt;
    if (total) to = *total;
    return total.has_value();
  };
  if (!scaled(right.constant, sum.constant)) return std::nullopt;
  for (const LinearTerm& term : right.terms) {
    auto it = std::find_if(
        sum.terms.begin(), sum.terms.end(),
        [&](const LinearTerm& own) { return own.node == term.node; });
    if (it == sum.terms.end()) {
      it = sum.terms.insert(sum.terms.end(), {term.node, 0});
    }
    if (!scaled(term.coefficient, it->coefficient)) return std::nullopt;
    if (it->coefficient == 0) sum.terms.erase(it);
  }
  return sum;
}

Facts::Facts(const LoopNest& nest, FactLimits limits)
    : nest_(nest), limits_(limits), stored_(nest.buffers.size(), false) {
  for (const Buffer& buffer : nest.buffers) {
    if (buffer.scope == MemoryScope::kInput ||
        buffer.scope == MemoryScope::kOutput) {
      NoteExtents(buffer);
    }
  }
  for (NodeId extent : nest.extents)
    NoteExactRange(extent, {0, tensor::kMaxExtent});
}

void Facts::NoteExtents(const Buffer& buffer) {
  std::vector<Product> shape;
  for (NodeId extent : buffer.extents) {
    NoteExactRange(extent, {0, limits_.extent});
    if (std::optional<Product> product = FactorsOf(nest_.pool, extent)) {
      shape.push_back(std::move(*product));
    }
  }
  shapes_.push_back(std::move(shape));
}

// Notes that an expression that cannot overflow is in the range, and derives
// ranges of its subexpressions from that: if N + 2 is in 0..9, N is in -2..7.
void Facts::NoteExactRange(NodeId id, Interval range) {
  while (true) {
    NoteRange(id, range, {});
    const Node& node = nest_.pool[id];
    if (node.operands.size() != 2) return;
    const std::optional<int64_t> constant =
        nest_.pool.IntegerConstant(node.operands[1]);
    if (!constant) return;
    if (node.opcode == Opcode::kMultiply && *constant > 0) {
      range = {-FloorQuotient(-range.low, *constant),
               FloorQuotient(range.high, *constant)};
    } else if (node.opcode == Opcode::kAdd) {
      range = range - Interval::Of(*constant);
    } else if (node.opcode == Opcode::kSubtract) {
      range = range + Interval::Of(*constant);
    } else {
      return;
    }
    if (range.IsFull() || range.low > range.high) return;
    id = node.operands[0];
  }
}

void Facts::BeginPhase(std::vector<bool> stored) {
  stored_ = std::move(stored);
  Changed();
}

void Facts::BeginInvocations(std::vector<bool> shared) {
  shared_by_invocations_ = std::move(shared);
}

void Facts::Changed() { ranges_.clear(); }

void Facts::Rollback(size_t mark) {
  if (mark == facts_.size()) return;
  facts_.resize(mark);
  Changed();
}

void Facts::Forget(uint32_t buffer) {
  for (Fact& fact : facts_) {
    for (uint32_t loaded : fact.loads) {
      if (!MayShareMemory(nest_, loaded, buffer)) continue;
      fact.holds = false;
      Changed();
    }
  }
}

std::optional<std::vector<uint32_t>> Facts::StableLoads(
    std::vector<NodeId> roots) const {
  std::vector<uint32_t> loads;
  for (NodeId id : NodesUnder(nest_.pool, roots)) {
    const Node& node = nest_.pool[id];
    if (!IsLoad(node)) continue;
    const MemoryScope scope = nest_.buffers[node.buffer].scope;
    const bool is_shared =
        !shared_by_invocations_.empty() && shared_by_invocations_[node.buffer];
    const bool is_own = scope == MemoryScope::kRegister ||
                        (scope == MemoryScope::kTask && !is_shared);
    if (stored_[node.buffer] && !is_own) return std::nullopt;
    loads.push_back(node.buffer);
  }
  return loads;
}

// --- facts ---

void Facts::NoteRange(NodeId node, Interval range,
                      const std::vector<uint32_t>& loads) {
  if (range.IsFull() || range.low > range.high) return;
  facts_.push_back({true, loads, node, range, {}, false});
  Changed();
}

void Facts::NoteInequality(LinearSum sum, const std::vector<uint32_t>& loads) {
  const std::optional<int64_t> most = UpperBound(sum);
  const bool is_impossible = most && *most < 0;
  // If a sum is not negative, each of its terms is bounded by the extreme
  // values of the other terms.
  for (const LinearTerm& term : sum.terms) {
    LinearSum others = sum;
    std::erase_if(others.terms, [&](const LinearTerm& other) {
      return other.node == term.node;
    });
    const std::optional<int64_t> rest = UpperBound(others);
    if (!rest || *rest == INT64_MIN || term.coefficient == INT64_MIN) continue;
    // The sum is at least 0 and the other terms are at most `rest`, so
    // coefficient * x >= -rest.
    if (term.coefficient > 0) {
      NoteRange(term.node, {-FloorQuotient(*rest, term.coefficient), INT64_MAX},
                loads);
    } else {
      NoteRange(term.node, {INT64_MIN, FloorQuotient(*rest, -term.coefficient)},
                loads);
    }
  }
  facts_.push_back(
      {true, loads, std::nullopt, {}, std::move(sum), is_impossible});
}

void Facts::NotePositive(NodeId node) {
  if (const std::optional<Product> product = ExactProduct(node)) {
    for (NodeId factor : product->factors) {
      NoteRange(factor, {1, INT64_MAX}, {});
    }
  }
  NoteRange(node, {1, INT64_MAX}, {});
}

void Facts::AssumeIterates(NodeId variable) {
  const NodeId extent = ExtentOf(nest_.pool, variable);
  NotePositive(extent);
  NoteOrder(variable, extent, /*strict=*/true);
}

void Facts::AssumeInBounds(NodeId index, NodeId extent) {
  const std::optional<std::vector<uint32_t>> loads = StableLoads({index});
  if (!loads) return;
  NoteRange(index, {0, INT64_MAX}, *loads);
  NoteInequality(ExactSum(index), *loads);
  NoteOrder(index, extent, /*strict=*/true);
}

void Facts::NoteOrder(NodeId a, NodeId b, bool strict) {
  const std::optional<std::vector<uint32_t>> loads = StableLoads({a, b});
  if (!loads) return;
  const Interval left = RangeOf(a), right = RangeOf(b);
  NoteRange(a, {INT64_MIN, SaturatedAdd(right.high, strict ? -1 : 0)}, *loads);
  NoteRange(b, {SaturatedAdd(left.low, strict ? 1 : 0), INT64_MAX}, *loads);
  if (nest_.pool[a].type != DType::kI64) return;
  std::optional<LinearSum> sum = AddScaled(ExactSum(b), ExactSum(a), -1);
  if (sum && strict) sum = AddScaled(*sum, LinearSum{{}, 1}, -1);
  if (sum) NoteInequality(std::move(*sum), *loads);
}

void Facts::NoteComparison(const Node& node, bool holds) {
  if (tensor::InfoOf(node.opcode).group != tensor::InstructionGroup::kCompare) {
    return;
  }
  const NodeId a = node.operands[0], b = node.operands[1];
  if (!IsOrdered(nest_.pool[a].type)) return;
  switch (node.opcode) {
    case Opcode::kLess:
      return holds ? NoteOrder(a, b, true) : NoteOrder(b, a, false);
    case Opcode::kLessEqual:
      return holds ? NoteOrder(a, b, false) : NoteOrder(b, a, true);
    case Opcode::kEqual:
    case Opcode::kNotEqual:
      if (holds != (node.opcode == Opcode::kEqual)) return;
      NoteOrder(a, b, false);
      NoteOrder(b, a, false);
      return;
    default:
      return;
  }
}

void Facts::AssumeHolds(NodeId condition) {
  std::vector<std::pair<NodeId, bool>> open = {{condition, true}};
  while (!open.empty()) {
    const auto [id, holds] = open.back();
    open.pop_back();
    const Node& node = nest_.pool[id];
    if (node.type != DType::kBool) continue;
    if (node.opcode == Opcode::kNot) {
      open.push_back({node.operands[0], !holds});
    } else if (node.opcode == (holds ? Opcode::kAnd : Opcode::kOr)) {
      open.push_back({node.operands[0], holds});
      open.push_back({node.operands[1], holds});
    } else {
      NoteComparison(node, holds);
    }
    if (open.size() > 64) return;
  }
}

// --- ranges ---

Interval Facts::RangeOf(NodeId root) const {
  std::vector<NodeId> open = {root};
  while (!open.empty()) {
    const NodeId id = open.back();
    const Node& node = nest_.pool[id];
    bool ready = true;
    if (!IsLoad(node) && !ranges_.contains(id)) {
      for (NodeId operand : node.operands) {
        if (ranges_.contains(operand)) continue;
        open.push_back(operand);
        ready = false;
      }
    }
    if (!ready) continue;
    open.pop_back();
    if (!ranges_.contains(id)) ranges_[id] = Compute(id);
  }
  return ranges_[root];
}

Interval Facts::Compute(NodeId id) const {
  const Node& node = nest_.pool[id];
  const auto operand = [&](size_t i) {
    return i < node.operands.size() ? ranges_[node.operands[i]]
                                    : Interval::Full();
  };
  Interval range;
  switch (node.opcode) {
    case Opcode::kConstant:
      return tensor::RangeOfConstant(node.immediate, node.type);
    case Opcode::kParameter:
      break;
    case Opcode::kAxis:
      range = {0, std::max<int64_t>(operand(0).high, 1) - 1};
      break;
    case Opcode::kLoad:
    case Opcode::kPad:
      range = tensor::RangeOfType(node.type);
      break;
    default: {
      const DType operand_type =
          node.operands.empty() ? node.type : nest_.pool[node.operands[0]].type;
      range = tensor::RangeOfResult(node.opcode, operand_type, node.type,
                                    operand(0), operand(1), operand(2));
    }
  }
  if (node.type == DType::kI64 && range.IsFull()) {
    if (node.opcode == Opcode::kFloorDivide || node.opcode == Opcode::kModulo) {
      range = DivideOrZero(node.opcode, operand(0), operand(1));
    } else if (node.opcode == Opcode::kMultiply) {
      const std::optional<Product> product = FactorsOf(nest_.pool, id);
      if (product && FitsBuffer(*product)) range = {0, limits_.elements};
    }
  }
  if (!IsOrdered(node.type)) return range;
  for (const Fact& fact : facts_) {
    if (fact.holds && fact.node == id) {
      range = tensor::Intersect(range, fact.range);
    }
  }
  return range;
}

// True if the product is at most the number of elements of one input or output:
// each factor of the product is a factor of an extent of that buffer, and an
// extent counts only if all its factors occur.
bool Facts::FitsBuffer(const Product& product) const {
  for (const std::vector<Product>& shape : shapes_) {
    std::vector<NodeId> left = product.factors;
    int64_t constant = 1;
    for (const Product& extent : shape) {
      if (!Remove(left, extent.factors)) continue;
      constant = CheckedMultiply(constant, extent.constant).value_or(0);
    }
    if (left.empty() && product.constant <= constant) return true;
  }
  return false;
}

std::optional<Product> Facts::ExactProduct(NodeId node) const {
  std::optional<Product> product = FactorsOf(nest_.pool, node);
  if (!product) return std::nullopt;
  Interval exact = Interval::Of(product->constant);
  for (NodeId factor : product->factors) {
    const Interval range = RangeOf(factor);
    if (range.low < 0) return std::nullopt;
    // Interval's operator* returns the full range if the product may overflow,
    // so exact.low >= 0 below means that it does not.
    exact = exact * range;
  }
  if (exact.low >= 0 || FitsBuffer(*product)) return product;
  return std::nullopt;
}

std::optional<int64_t> Facts::LowerBound(const LinearSum& sum) const {
  std::optional<int64_t> bound = sum.constant;
  for (const LinearTerm& term : sum.terms) {
    const Interval range = RangeOf(term.node);
    const std::optional<int64_t> least = CheckedMultiply(
        term.coefficient > 0 ? range.low : range.high, term.coefficient);
    bound = least ? CheckedAdd(*bound, *least) : std::nullopt;
    if (!bound) return std::nullopt;
  }
  return bound;
}

std::optional<int64_t> Facts::UpperBound(const LinearSum& sum) const {
  const std::optional<LinearSum> negated = AddScaled({}, sum, -1);
  const std::optional<int64_t> bound =
      negated ? LowerBound(*negated) : std::nullopt;
  return bound ? CheckedSubtract(0, *bound) : std::nullopt;
}

LinearSum Facts::ExactSum(NodeId node) const {
  if (std::optional<LinearSum> sum =
          tensor::Linearize(nest_.pool, node, /*by_ranges=*/false)) {
    // Linearize yields a sum that equals the node modulo 2^64. If the sum fits
    // 64 bits for all values of its terms, it equals the node exactly.
    if (LowerBound(*sum) && UpperBound(*sum)) return std::move(*sum);
  }
  return {{{node, 1}}, 0};
}

bool Facts::IsUnreachable() const {
  return std::any_of(facts_.begin(), facts_.end(), [](const Fact& fact) {
    return fact.holds && fact.is_impossible;
  });
}

std::vector<const LinearSum*> Facts::Inequalities() const {
  std::vector<const LinearSum*> sums;
  for (const Fact& fact : facts_) {
    if (fact.holds && !fact.node) sums.push_back(&fact.sum);
  }
  return sums;
}

}  // namespace ember::loops
