#include "compiler/graph/builder/integer_contents.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "compiler/graph/operators.h"
#include "tensor/scalar.h"

namespace ember::graph {
namespace {

using Contents = std::vector<Dim>;
using MaybeContents = std::optional<Contents>;
using MaybeDim = std::optional<Dim>;

// 2^53: a double holds every integer up to this magnitude
constexpr double kLargestExactInteger = 9007199254740992.0;

// The extents of a tensor whose dims are all constant, and its number of
// elements, which is small enough for its contents to be followed.
struct SmallShape {
  std::vector<int64_t> extents;
  int64_t count = 1;
};

std::optional<SmallShape> SmallShapeOf(const Shape& shape) {
  SmallShape small;
  for (const Dim& dim : shape) {
    const auto extent = dim.AsConstant();
    if (!extent || *extent > IntegerContents::kMaxElements) return std::nullopt;
    small.extents.push_back(*extent);
    small.count *= *extent;
    if (small.count > IntegerContents::kMaxElements) return std::nullopt;
  }
  return small;
}

// Returns the indices of the element at a row-major position of a tensor with
// these extents.
std::vector<int64_t> IndicesOf(int64_t position,
                               const std::vector<int64_t>& extents) {
  std::vector<int64_t> indices(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    indices[i] = position % extents[i];
    position /= extents[i];
  }
  return indices;
}

int64_t PositionOf(std::span<const int64_t> indices,
                   const std::vector<int64_t>& extents) {
  int64_t position = 0;
  for (size_t i = 0; i < extents.size(); ++i)
    position = position * extents[i] + indices[i];
  return position;
}

// --- elements ---

// True if the type can hold the value exactly. If it cannot, the value would
// wrap or round, so the contents are treated as unknown. A symbolic value is an
// extent, which fits in every type but bool.
bool Fits(const Dim& value, DType type) {
  const auto constant = value.AsConstant();
  if (!value.is_valid()) return false;
  if (!constant) return type != DType::kBool;
  if (IsFloat(type))
    return std::fabs(static_cast<double>(*constant)) <= kLargestExactInteger;
  return tensor::BitsToInteger(tensor::IntegerToBits(*constant, type), type) ==
         *constant;
}

MaybeDim ConstantElement(uint64_t bits, DType type) {
  if (!IsFloat(type)) {
    const int64_t value = tensor::BitsToInteger(bits, type);
    if (type == DType::kU64 && value < 0) return std::nullopt;
    return Dim(value);
  }
  const double value = tensor::BitsToDouble(bits, type);
  if (std::fabs(value) > kLargestExactInteger || value != std::floor(value))
    return std::nullopt;
  if (value == 0 && std::signbit(value)) return std::nullopt;
  return Dim(static_cast<int64_t>(value));
}

bool NonNegative(const Dim& dim) { return dim.LowerBound().value_or(-1) >= 0; }

// Returns the quotient where it is known: if the division is exact, or, for
// integers, if both operands are not negative or both are constants. Otherwise
// a remainder would make it round in another way than FloorDivide: toward zero
// for integers, to a fraction for floats.
MaybeDim Divide(const Dim& a, const Dim& b, bool is_float) {
  if (b == Dim(0)) return std::nullopt;
  const Dim quotient = FloorDivide(a, b);
  if (!is_float && NonNegative(a) && NonNegative(b)) return quotient;
  if (quotient * b == a) return quotient;
  if (!is_float && a.is_constant() && b.is_constant() && b.constant() != -1) {
    return Dim(a.constant() / b.constant());
  }
  return std::nullopt;
}

MaybeDim Decided(std::optional<bool> value) {
  if (!value) return std::nullopt;
  return Dim(*value ? 1 : 0);
}

std::optional<bool> IsEqual(const Dim& a, const Dim& b) {
  if (a == b) return true;
  const Dim difference = a - b;
  if (difference.LowerBound().value_or(0) > 0 ||
      difference.UpperBound().value_or(0) < 0) {
    return false;
  }
  return std::nullopt;
}

std::optional<bool> IsLess(const Dim& a, const Dim& b) {
  // The comparison is decided by bounds: a < b exactly if b - a is positive.
  const Dim difference = b - a;
  if (const auto low = difference.LowerBound(); low && *low > 0) return true;
  if (const auto high = difference.UpperBound(); high && *high <= 0)
    return false;
  return std::nullopt;
}

std::optional<bool> Negated(std::optional<bool> value) {
  if (!value) return std::nullopt;
  return !*value;
}

MaybeDim BinaryElement(tensor::Opcode opcode, const Dim& a, const Dim& b,
                       DType type) {
  using tensor::Opcode;
  const bool is_float = IsFloat(type);
  switch (opcode) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSubtract:
      return a - b;
    case Opcode::kMultiply:
      return a * b;
    case Opcode::kDivide:
      return Divide(a, b, is_float);
    case Opcode::kFloorDivide:
      if (b == Dim(0)) return std::nullopt;
      return FloorDivide(a, b);
    case Opcode::kModulo:
      if (b == Dim(0)) return std::nullopt;
      return Modulo(a, b);
    case Opcode::kRemainder:
      if (b == Dim(0) || !NonNegative(a) || !NonNegative(b))
        return std::nullopt;
      return Modulo(a, b);
    case Opcode::kMinimum:
      return Minimum(a, b);
    case Opcode::kMaximum:
      return Maximum(a, b);
    case Opcode::kEqual:
      return Decided(IsEqual(a, b));
    case Opcode::kNotEqual:
      return Decided(Negated(IsEqual(a, b)));
    case Opcode::kLess:
      return Decided(IsLess(a, b));
    case Opcode::kLessEqual:
      return Decided(Negated(IsLess(b, a)));
    default:
      break;
  }
  if (type != DType::kBool || !a.is_constant() || !b.is_constant())
    return std::nullopt;
  if (opcode == Opcode::kAnd) return Dim(a.constant() & b.constant());
  if (opcode == Opcode::kOr) return Dim(a.constant() | b.constant());
  if (opcode == Opcode::kXor) return Dim(a.constant() ^ b.constant());
  return std::nullopt;
}

MaybeDim UnaryElement(tensor::Opcode opcode, const Dim& a, DType type) {
  using tensor::Opcode;
  switch (opcode) {
    case Opcode::kNegate:
      return Dim(0) - a;
    case Opcode::kAbsolute:
      if (NonNegative(a)) return a;
      if (NonNegative(Dim(0) - a)) return Dim(0) - a;
      return std::nullopt;
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
      // Floor, ceil, round and truncate change nothing, because all values that
      // are followed are whole numbers.
      return a;
    case Opcode::kNot:
      if (type == DType::kBool && a.is_constant()) return Dim(1 - a.constant());
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

MaybeDim CastElement(const Dim& a, DType type) {
  if (type != DType::kBool) return a;
  return Decided(Negated(IsEqual(a, Dim(0))));
}

// --- operations ---

// Computes the elements of one operation's result, as expressions, from the
// elements of its operands.
class ContentsRule {
 public:
  ContentsRule(const Operation& operation, const IntegerContents& known,
               SmallShape shape)
      : operation_(operation), known_(known), shape_(std::move(shape)) {}

  MaybeContents Apply() const {
    const std::string_view name = operation_.name();
    if (operation_.record().is_instruction) return Arithmetic();
    if (name == "constant") return Constant();
    if (name == "shape_value")
      return operation_.attributes().Get<Shape>("values");
    if (name == "extents") return operation_.attributes().Get<Shape>("defines");
    if (name == "iota") return Iota();
    if (name == "cast") return Cast();
    if (name == "select") return Select();
    if (name == "reshape") return Copy(0);
    if (name == "broadcast") return Broadcast();
    if (name == "transpose") return Transpose();
    if (name == "slice") return Slice();
    if (name == "concat") return Concat();
    if (name == "gather") return Gather();
    if (name == "reduce") return Reduce();
    return std::nullopt;
  }

 private:
  const Contents* Operand(int index) const {
    return known_.Find(operation_.operand(index));
  }
  const std::vector<int64_t> Extents(int index) const {
    return SmallShapeOf(operation_.operand(index)->shape())->extents;
  }

  MaybeContents Copy(int index) const {
    const Contents* contents = Operand(index);
    if (contents == nullptr) return std::nullopt;
    return *contents;
  }

  // Makes the contents of the result by calling element(indices) for each
  // element. Returns nullopt as soon as one element is unknown.
  template <typename Element>
  MaybeContents ForEach(const Element& element) const {
    Contents result;
    for (int64_t i = 0; i < shape_.count; ++i) {
      const MaybeDim value = element(IndicesOf(i, shape_.extents));
      if (!value) return std::nullopt;
      result.push_back(*value);
    }
    return result;
  }

  // Returns the operand's element that broadcasting reads for the result's
  // element at `indices`.
  const Dim& BroadcastElement(int index,
                              const std::vector<int64_t>& indices) const {
    const std::vector<int64_t> extents = Extents(index);
    std::vector<int64_t> own;
    for (size_t i = 0; i < extents.size(); ++i) {
      own.push_back(
          extents[i] == 1 ? 0 : indices[indices.size() - extents.size() + i]);
    }
    return (*Operand(index))[static_cast<size_t>(PositionOf(own, extents))];
  }

  MaybeContents Constant() const {
    const auto& data = operation_.attributes().Get<ConstantData>("value");
    const DType type = operation_.result()->dtype();
    Contents result;
    for (int64_t i = 0; i < shape_.count; ++i) {
      const MaybeDim value = ConstantElement(
          tensor::LoadElement(data.bytes.data(), i, type), type);
      if (!value) return std::nullopt;
      result.push_back(*value);
    }
    return result;
  }

  MaybeContents Iota() const {
    const auto axis =
        static_cast<size_t>(operation_.attributes().Get<int64_t>("axis"));
    return ForEach([&](const std::vector<int64_t>& indices) {
      return MaybeDim(indices[axis]);
    });
  }

  MaybeContents Cast() const {
    const Contents* operand = Operand(0);
    if (operand == nullptr) return std::nullopt;
    Contents result;
    for (const Dim& value : *operand) {
      const MaybeDim cast = CastElement(value, operation_.result()->dtype());
      if (!cast) return std::nullopt;
      result.push_back(*cast);
    }
    return result;
  }

  MaybeContents Arithmetic() const {
    const tensor::Opcode opcode = operation_.record().opcode;
    const DType type = operation_.operand(0)->dtype();
    if (opcode == tensor::Opcode::kFloor && Operand(0) == nullptr)
      return FloorOfQuotient();
    for (int i = 0; i < operation_.operand_count(); ++i) {
      if (Operand(i) == nullptr) return std::nullopt;
    }
    return ForEach([&](const std::vector<int64_t>& indices) {
      const Dim& a = BroadcastElement(0, indices);
      if (operation_.operand_count() == 1) return UnaryElement(opcode, a, type);
      return BinaryElement(opcode, a, BroadcastElement(1, indices), type);
    });
  }

  // Computes floor(a / b) of floats that hold whole numbers.
  MaybeContents FloorOfQuotient() const {
    const Operation* quotient = operation_.operand(0)->producer();
    if (quotient == nullptr || quotient->name() != "divide")
      return std::nullopt;
    const ContentsRule rule(*quotient, known_, shape_);
    if (rule.Operand(0) == nullptr || rule.Operand(1) == nullptr)
      return std::nullopt;
    return ForEach([&](const std::vector<int64_t>& indices) -> MaybeDim {
      const Dim& divisor = rule.BroadcastElement(1, indices);
      if (divisor == Dim(0)) return std::nullopt;
      return FloorDivide(rule.BroadcastElement(0, indices), divisor);
    });
  }

  MaybeContents Select() const {
    if (Operand(0) == nullptr) return std::nullopt;
    return ForEach([&](const std::vector<int64_t>& indices) -> MaybeDim {
      const int chosen = BroadcastElement(0, indices) == Dim(0) ? 2 : 1;
      if (Operand(chosen) == nullptr) return std::nullopt;
      return BroadcastElement(chosen, indices);
    });
  }

  MaybeContents Broadcast() const {
    if (Operand(0) == nullptr) return std::nullopt;
    return ForEach([&](const std::vector<int64_t>& indices) {
      return MaybeDim(BroadcastElement(0, indices));
    });
  }

  // Makes the contents of an operation that only moves elements: the result's
  // element at `indices` is the operand's element at source(indices).
  template <typename Source>
  MaybeContents Moved(const Source& source) const {
    const Contents* operand = Operand(0);
    if (operand == nullptr) return std::nullopt;
    const std::vector<int64_t> extents = Extents(0);
    return ForEach([&](const std::vector<int64_t>& indices) -> MaybeDim {
      const std::vector<int64_t> own = source(indices);
      for (size_t i = 0; i < own.size(); ++i) {
        if (own[i] < 0 || own[i] >= extents[i]) return std::nullopt;
      }
      return (*operand)[static_cast<size_t>(PositionOf(own, extents))];
    });
  }

  MaybeContents Transpose() const {
    const auto& permutation =
        operation_.attributes().Get<std::vector<int64_t>>("permutation");
    return Moved([&](const std::vector<int64_t>& indices) {
      std::vector<int64_t> own(indices.size());
      for (size_t i = 0; i < own.size(); ++i)
        own[static_cast<size_t>(permutation[i])] = indices[i];
      return own;
    });
  }

  MaybeContents Slice() const {
    const Shape& starts = operation_.attributes().Get<Shape>("starts");
    const auto& steps =
        operation_.attributes().Get<std::vector<int64_t>>("steps");
    if (!IsConstant(starts)) return std::nullopt;
    return Moved([&](const std::vector<int64_t>& indices) {
      std::vector<int64_t> own;
      for (size_t i = 0; i < indices.size(); ++i) {
        const Dim index = starts[i] + Dim(indices[i]) * Dim(steps[i]);
        own.push_back(index.AsConstant().value_or(-1));
      }
      return own;
    });
  }

  MaybeContents Gather() const {
    const Contents* chosen = Operand(1);
    if (chosen == nullptr) return std::nullopt;
    const auto axis =
        static_cast<size_t>(operation_.attributes().Get<int64_t>("axis"));
    const std::vector<int64_t> index_extents = Extents(1);
    return Moved([&](const std::vector<int64_t>& indices) {
      const auto position =
          PositionOf(std::span(indices).subspan(axis, index_extents.size()),
                     index_extents);
      const auto first = indices.begin();
      const auto offset = static_cast<std::ptrdiff_t>(axis);
      std::vector<int64_t> own(first, first + offset);
      own.push_back(
          (*chosen)[static_cast<size_t>(position)].AsConstant().value_or(-1));
      own.insert(
          own.end(),
          first + offset + static_cast<std::ptrdiff_t>(index_extents.size()),
          indices.end());
      return own;
    });
  }

  MaybeContents Concat() const {
    const auto axis =
        static_cast<size_t>(operation_.attributes().Get<int64_t>("axis"));
    for (int i = 0; i < operation_.operand_count(); ++i) {
      if (Operand(i) == nullptr) return std::nullopt;
    }
    return ForEach([&](std::vector<int64_t> indices) -> MaybeDim {
      int operand = 0;
      while (indices[axis] >= Extents(operand)[axis])
        indices[axis] -= Extents(operand++)[axis];
      return (*Operand(
          operand))[static_cast<size_t>(PositionOf(indices, Extents(operand)))];
    });
  }

  MaybeContents Reduce() const {
    const Contents* operand = Operand(0);
    if (operand == nullptr || operand->empty()) return std::nullopt;
    const auto& axes =
        operation_.attributes().Get<std::vector<int64_t>>("axes");
    const std::string& combiner =
        operation_.attributes().Get<std::string>("combiner");
    const std::vector<int64_t> extents = Extents(0);
    std::vector<MaybeDim> results(static_cast<size_t>(shape_.count));
    for (size_t i = 0; i < operand->size(); ++i) {
      std::vector<int64_t> indices =
          IndicesOf(static_cast<int64_t>(i), extents);
      std::vector<int64_t> left;
      for (size_t d = 0; d < indices.size(); ++d) {
        if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) ==
            axes.end()) {
          left.push_back(indices[d]);
        }
      }
      MaybeDim& result =
          results[static_cast<size_t>(PositionOf(left, shape_.extents))];
      const Dim& value = (*operand)[i];
      if (!result) {
        result = value;
      } else if (combiner == "sum") {
        result = *result + value;
      } else if (combiner == "product") {
        result = *result * value;
      } else {
        result = combiner == "minimum" ? Minimum(*result, value)
                                       : Maximum(*result, value);
      }
    }
    Contents contents;
    for (const MaybeDim& result : results) {
      if (!result) return std::nullopt;
      contents.push_back(*result);
    }
    return contents;
  }

  const Operation& operation_;
  const IntegerContents& known_;
  SmallShape shape_;
};

}  // namespace

void IntegerContents::Record(const Operation& operation) {
  if (operation.results().size() != 1) return;
  auto shape = SmallShapeOf(operation.result()->shape());
  if (!shape) return;
  MaybeContents contents =
      ContentsRule(operation, *this, *std::move(shape)).Apply();
  if (!contents) return;
  for (const Dim& value : *contents) {
    if (!Fits(value, operation.result()->dtype())) return;
  }
  contents_.insert_or_assign(operation.result(), *std::move(contents));
}

const std::vector<Dim>* IntegerContents::Find(const Value* value) const {
  const auto found = contents_.find(value);
  return found == contents_.end() ? nullptr : &found->second;
}

}  // namespace ember::graph
