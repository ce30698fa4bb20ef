#include "jit/llvm/emit/linear_index.h"

#include <algorithm>

namespace ember::jit::llvm_ir {

using llvm::Value;
using tensor::Opcode;

namespace {

// WrappingMultiply and WrappingAdd compute with constants modulo 2^64, as the
// emitted i64 code does.
int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}
void WrappingAdd(int64_t& sum, int64_t value) {
  sum = static_cast<int64_t>(static_cast<uint64_t>(sum) +
                             static_cast<uint64_t>(value));
}

const llvm::ConstantInt* ConstantOf(const ScopedValue& scoped) {
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(scoped.value);
}

void AddTerm(ScopedValue term, std::vector<ScopedValue>& terms,
             int64_t& constant) {
  if (const llvm::ConstantInt* known = ConstantOf(term)) {
    WrappingAdd(constant, known->getSExtValue());
  } else {
    terms.push_back(term);
  }
}

}  // namespace

LinearIndex IndexLinearizer::Of(NodeId id) {
  LinearIndex index;
  Add(id, Factor{}, index);
  JoinDigits(index);
  return index;
}

bool IndexLinearizer::IsDigit(NodeId id) {
  const tensor::Node& node = pool_[id];
  if (node.opcode != Opcode::kFloorDivide && node.opcode != Opcode::kModulo)
    return false;
  const auto divisor = pool_.IntegerConstant(node.operands[1]);
  return divisor && *divisor > 0 && scopes_.VariesByLane(node.operands[0]);
}

// Adds the quotients and remainders that Add has kept in `digits`. If two of
// them belong together, x floordiv n * (n * f) + x mod n * f becomes x * f.
void IndexLinearizer::JoinDigits(LinearIndex& index) {
  while (!index.digits.empty()) {
    const Digit digit = index.digits.front();
    index.digits.erase(index.digits.begin());
    const tensor::Node& node = pool_[digit.node];
    const NodeId value = node.operands[0];
    const int64_t divisor = *pool_.IntegerConstant(node.operands[1]);
    const auto other = std::ranges::find_if(index.digits, [&](const Digit& d) {
      const tensor::Node& candidate = pool_[d.node];
      if (candidate.opcode == node.opcode || candidate.operands[0] != value ||
          pool_.IntegerConstant(candidate.operands[1]) != divisor)
        return false;
      const bool is_quotient = node.opcode == Opcode::kFloorDivide;
      const Factor& quotient = is_quotient ? digit.factor : d.factor;
      const Factor& remainder = is_quotient ? d.factor : digit.factor;
      return quotient.value.value == remainder.value.value &&
             quotient.constant == WrappingMultiply(remainder.constant, divisor);
    });
    if (other == index.digits.end()) {
      AddAtom(digit.node, digit.factor, index);
      continue;
    }
    const Factor factor =
        node.opcode == Opcode::kModulo ? digit.factor : other->factor;
    index.digits.erase(other);
    Add(value, factor, index);
  }
}

std::optional<ShiftedQuotient> IndexLinearizer::QuotientOf(NodeId id) {
  ShiftedQuotient result;
  Add(id, Factor{}, result.rest);
  if (!result.rest.IsUniform() || result.rest.digits.size() != 1)
    return std::nullopt;
  const Digit digit = result.rest.digits.front();
  const tensor::Node& node = pool_[digit.node];
  if (node.opcode != Opcode::kFloorDivide || digit.factor.constant != 1 ||
      digit.factor.value.value != nullptr)
    return std::nullopt;
  result.rest.digits.clear();
  result.dividend = node.operands[0];
  result.divisor = *pool_.IntegerConstant(node.operands[1]);
  return result;
}

void IndexLinearizer::Add(NodeId id, const Factor& factor, LinearIndex& index) {
  const tensor::Node& node = pool_[id];
  switch (node.opcode) {
    case Opcode::kAdd:
      Add(node.operands[0], factor, index);
      Add(node.operands[1], factor, index);
      return;
    case Opcode::kSubtract:
      Add(node.operands[0], factor, index);
      Add(node.operands[1], Times(factor, -1), index);
      return;
    case Opcode::kMultiply:
      AddProduct(id, factor, index);
      return;
    default:
      break;
  }
  if (scopes_.IsLane(id)) {
    AddTerm(ValueOf(factor), index.per_lane, index.lane_constant);
    return;
  }
  if (IsDigit(id)) {
    index.digits.push_back({id, factor});
    return;
  }
  AddAtom(id, factor, index);
}

// Adds the node as a term that is not taken apart further. The term may be a
// scalar although the node depends on the lane's variable l, as l - l does.
void IndexLinearizer::AddAtom(NodeId id, const Factor& factor,
                              LinearIndex& index) {
  const ScopedValue value = ValueOf(Times(factor, Atom(id)));
  if (IsVector(value.value)) {
    index.irregular.push_back(value);
  } else {
    AddTerm(value, index.uniform, index.constant);
  }
}

void IndexLinearizer::AddProduct(NodeId id, const Factor& factor,
                                 LinearIndex& index) {
  const NodeId a = pool_[id].operands[0];
  const NodeId b = pool_[id].operands[1];
  if (const auto constant = pool_.IntegerConstant(b))
    return Add(a, Times(factor, *constant), index);
  if (const auto constant = pool_.IntegerConstant(a))
    return Add(b, Times(factor, *constant), index);
  // If both factors are the same in all lanes, or neither is, the product is
  // added as one term.
  const bool a_varies = scopes_.VariesByLane(a);
  const bool b_varies = scopes_.VariesByLane(b);
  if (a_varies && !b_varies) return Add(a, Times(factor, Atom(b)), index);
  if (b_varies && !a_varies) return Add(b, Times(factor, Atom(a)), index);
  AddAtom(id, factor, index);
}

ScopedValue IndexLinearizer::Atom(NodeId id) {
  return {emit_(id), scopes_.DepthOf(id)};
}

Factor IndexLinearizer::Times(const Factor& a, int64_t constant) {
  return {WrappingMultiply(a.constant, constant), a.value};
}

Factor IndexLinearizer::Times(const Factor& a, ScopedValue value) {
  if (const llvm::ConstantInt* known = ConstantOf(value))
    return Times(a, known->getSExtValue());
  if (a.value.value == nullptr) return {a.constant, value};
  return {a.constant, Product(a.value, value)};
}

ScopedValue IndexLinearizer::ValueOf(const Factor& factor) {
  llvm::ConstantInt* constant =
      b_.getInt64(static_cast<uint64_t>(factor.constant));
  if (factor.value.value == nullptr) return {constant, 0};
  if (factor.constant == 1) return factor.value;
  return Product(factor.value, {constant, 0});
}

ScopedValue IndexLinearizer::Product(ScopedValue a, ScopedValue b) {
  const int depth = std::max(a.depth, b.depth);
  Value* value =
      scopes_.Once(depth, Made::kMultiply, a.value, b.value, [&]() -> Value* {
        const int lanes = scopes_.lanes();
        if (IsVector(a.value))
          return b_.CreateMul(a.value, Splat(b_, b.value, lanes));
        if (IsVector(b.value))
          return b_.CreateMul(Splat(b_, a.value, lanes), b.value);
        return b_.CreateMul(a.value, b.value);
      });
  return {value, depth};
}

ScopedValue IndexLinearizer::Sum(std::vector<ScopedValue> terms,
                                 int64_t constant) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const ScopedValue& a, const ScopedValue& b) {
                     return a.depth < b.depth;
                   });
  Value* rest = b_.getInt64(static_cast<uint64_t>(constant));
  if (terms.empty()) return {rest, 0};
  ScopedValue sum = terms[0];
  if (constant != 0) terms.push_back({rest, sum.depth});
  for (size_t i = 1; i < terms.size(); ++i) {
    const ScopedValue& term = terms[i];
    const int depth = std::max(sum.depth, term.depth);
    sum.value = scopes_.Once(depth, Made::kAdd, sum.value, term.value, [&] {
      return b_.CreateAdd(sum.value, term.value);
    });
    sum.depth = depth;
  }
  return sum;
}

}  // namespace ember::jit::llvm_ir
