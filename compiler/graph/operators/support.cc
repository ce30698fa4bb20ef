#include "compiler/graph/operators/support.h"

#include <algorithm>
#include <limits>

namespace ember::graph {

Status CheckAxis(const Operation& operation, std::string_view attribute,
                 int rank) {
  const int64_t axis = IntegerOf(operation, attribute);
  if (axis >= 0 && axis < rank) return OkStatus();
  return Mismatch(attribute, ": expected an axis of a tensor of rank ",
                  std::to_string(rank), ", found ", std::to_string(axis));
}

Status CheckAxes(std::span<const int64_t> axes, std::string_view attribute,
                 int rank) {
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank) {
      return Mismatch(attribute, ": expected axes of a tensor of rank ",
                      std::to_string(rank), ", found ", std::to_string(axis));
    }
    if (seen[static_cast<size_t>(axis)]) {
      return Mismatch(attribute, ": expected distinct axes, found ",
                      std::to_string(axis), " twice");
    }
    seen[static_cast<size_t>(axis)] = true;
  }
  return OkStatus();
}

Status CheckLength(size_t length, std::string_view attribute, size_t expected) {
  if (length == expected) return OkStatus();
  return Mismatch(attribute, ": expected ", std::to_string(expected),
                  " values, found ", std::to_string(length));
}

Status CheckPositive(std::span<const int64_t> values,
                     std::string_view attribute) {
  for (int64_t value : values) {
    if (value < 1 || value > INT32_MAX) {
      return Mismatch(attribute,
                      ": expected values from 1 to 2147483647, found ",
                      std::to_string(value));
    }
  }
  return OkStatus();
}

Status CheckRank(const Operation& operation, int operand, int expected) {
  const int rank = operation.operand(operand)->rank();
  if (rank == expected) return OkStatus();
  return Mismatch("operand ", std::to_string(operand), ": expected rank ",
                  std::to_string(expected), ", found ",
                  ToString(operation.operand(operand)->type()));
}

Status CheckSameDType(const Operation& operation, int a, int b) {
  const DType left = operation.operand(a)->dtype(),
              right = operation.operand(b)->dtype();
  if (left == right) return OkStatus();
  return Mismatch("operand ", std::to_string(b), ": expected ", DTypeName(left),
                  " as operand ", std::to_string(a), ", found ",
                  DTypeName(right));
}

Status CheckIndexOperand(const Operation& operation, int operand) {
  if (IsInteger(operation.operand(operand)->dtype())) return OkStatus();
  return Mismatch("operand ", std::to_string(operand),
                  ": expected integer indices, found ",
                  DTypeName(operation.operand(operand)->dtype()));
}

Status CheckSameDim(const Dim& a, std::string_view what_a, const Dim& b,
                    std::string_view what_b) {
  if (a == b) return OkStatus();
  return Mismatch(what_b, ": expected ", a.ToString(), " as ", what_a,
                  ", found ", b.ToString());
}

Scalar ZeroOf(ElementContext& context, DType type) {
  return IsFloat(type) ? context.Constant(0, type)
                       : context.IntegerConstant(0, type);
}

Scalar OneOf(ElementContext& context, DType type) {
  return IsFloat(type) ? context.Constant(1, type)
                       : context.IntegerConstant(1, type);
}

Scalar LargestOf(ElementContext& context, DType type) {
  switch (KindOf(type)) {
    case DTypeKind::kBool:
      return context.IntegerConstant(1, type);
    case DTypeKind::kFloat:
      return context.Constant(std::numeric_limits<double>::infinity(), type);
    case DTypeKind::kUnsigned:
      return context.IntegerConstant(-1, type);
    case DTypeKind::kSigned:
      break;
  }
  const int bits = 8 * DTypeByteSize(type);
  return context.IntegerConstant(
      static_cast<int64_t>(~uint64_t{0} >> (65 - bits)), type);
}

Scalar SmallestOf(ElementContext& context, DType type) {
  switch (KindOf(type)) {
    case DTypeKind::kBool:
    case DTypeKind::kUnsigned:
      return context.IntegerConstant(0, type);
    case DTypeKind::kFloat:
      return context.Constant(-std::numeric_limits<double>::infinity(), type);
    case DTypeKind::kSigned:
      break;
  }
  return context.IntegerConstant(INT64_MIN >> (64 - 8 * DTypeByteSize(type)),
                                 type);
}

namespace {

constexpr NamedCombiner kCombiners[] = {
    {"sum", tensor::Combiner::kSum, ZeroOf},
    {"product", tensor::Combiner::kProduct, OneOf},
    {"minimum", tensor::Combiner::kMinimum, LargestOf},
    {"maximum", tensor::Combiner::kMaximum, SmallestOf},
};

}  // namespace

const NamedCombiner* FindCombiner(std::string_view name) {
  for (const NamedCombiner& combiner : kCombiners) {
    if (combiner.name == name) return &combiner;
  }
  return nullptr;
}

Status CheckCombiner(const Operation& operation, DType dtype) {
  const std::string& name = StringOf(operation, "combiner");
  const NamedCombiner* combiner = FindCombiner(name);
  if (combiner == nullptr) {
    return Mismatch(
        "combiner: expected sum, product, minimum or maximum, found '", name,
        "'");
  }
  const bool arithmetic = combiner->combiner == tensor::Combiner::kSum ||
                          combiner->combiner == tensor::Combiner::kProduct;
  if (dtype == DType::kBool && arithmetic) {
    return Mismatch("operand 0: expected numbers for combiner ", name,
                    ", found bool");
  }
  return OkStatus();
}

Dim WindowedExtent(const Dim& extent, const Dim& window, int64_t stride,
                   int64_t dilation, const Dim& low, const Dim& high) {
  const Dim last = extent + low + high - Dim(dilation) * (window - 1) - 1;
  return FloorDivide(last, Dim(stride)) + 1;
}

}  // namespace ember::graph
