// Defines constant, shape_value and iota, which have no operands.
#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

// Largest number of values of a shape_value: its definition is a chain of
// selects, and frontends need a handful of dims.
constexpr size_t kMaxShapeValues = 1024;

InferredTypes InferConstant(const Operation& operation) {
  const auto dtype = operation.attributes().Get<DType>("dtype");
  const Shape& shape = ShapeOf(operation, "shape");
  if (!IsConstant(shape)) {
    return Mismatch("shape: expected constant dims, found ",
                    ShapeToString(shape));
  }
  const TensorType type{dtype, shape};
  EMBER_RETURN_IF_ERROR(CheckType(type));
  const Dim bytes = ElementCount(shape) * Dim(DTypeByteSize(dtype));
  const size_t found =
      operation.attributes().Get<ConstantData>("value").bytes.size();
  if (static_cast<uint64_t>(bytes.constant()) != found) {
    return Mismatch("value: expected ", bytes.ToString(), " bytes for ",
                    ToString(type), ", found ", std::to_string(found));
  }
  return std::vector<TensorType>{type};
}

InferredTypes InferShapeValue(const Operation& operation) {
  const Shape& values = ShapeOf(operation, "values");
  if (values.size() > kMaxShapeValues) {
    return Mismatch("values: expected at most ",
                    std::to_string(kMaxShapeValues), " expressions, found ",
                    std::to_string(values.size()));
  }
  for (const Dim& value : values) {
    if (!value.is_valid())
      return Mismatch("values: an expression overflows 64 bits");
  }
  return OneType(DType::kI64, {Dim(static_cast<int64_t>(values.size()))});
}

Scalar DefineShapeValue(ElementContext& context, Indices indices) {
  const Shape& values = ShapeOf(context.operation(), "values");
  // An empty shape_value has no element that is ever read, but its definition
  // must return a scalar, so it returns 0.
  if (values.empty()) return context.Index(0);
  Scalar result = context.Extent(values.back());
  for (size_t i = values.size() - 1; i-- > 0;) {
    const Scalar here = indices[0] == context.Index(static_cast<int64_t>(i));
    result = Select(here, context.Extent(values[i]), result);
  }
  return result;
}

InferredTypes InferIota(const Operation& operation) {
  const Shape& shape = ShapeOf(operation, "shape");
  EMBER_RETURN_IF_ERROR(
      CheckAxis(operation, "axis", static_cast<int>(shape.size())));
  const auto dtype = operation.attributes().Get<DType>("dtype");
  if (dtype == DType::kBool)
    return Mismatch("dtype: expected numbers, found bool");
  return OneType(dtype, shape);
}

Scalar DefineIota(ElementContext& context, Indices indices) {
  const Operation& operation = context.operation();
  return Cast(indices[static_cast<size_t>(IntegerOf(operation, "axis"))],
              operation.attributes().Get<DType>("dtype"));
}

constexpr AttributeSpec kConstantAttributes[] = {
    {"value", AttributeKind::kConstant, true,
     "The elements, row-major, little-endian."},
    {"dtype", AttributeKind::kDType, true, "Type of the elements."},
    {"shape", AttributeKind::kShape, true, "Constant dims."},
};
constexpr AttributeSpec kShapeValueAttributes[] = {
    {"values", AttributeKind::kShape, true,
     "One integer expression per element."},
};
constexpr AttributeSpec kIotaAttributes[] = {
    {"shape", AttributeKind::kShape, true, "The shape of the result."},
    {"axis", AttributeKind::kInteger, true,
     "The dim whose index is the value."},
    {"dtype", AttributeKind::kDType, true, "The type of the result."},
};

const OperatorRecord kRecords[] = {
    {.name = "constant",
     .doc = "A tensor that is known when compiling.",
     .attributes = kConstantAttributes,
     .result_memory = ResultMemory::kGiven,
     .infer = InferConstant},
    {.name = "shape_value",
     .doc = "The values of integer expressions over symbolic dims, i64[k].",
     .attributes = kShapeValueAttributes,
     .result_memory = ResultMemory::kGiven,
     .infer = InferShapeValue,
     .definition = {.element = DefineShapeValue}},
    {.name = "iota",
     .doc = "The index along an axis.",
     .attributes = kIotaAttributes,
     .result_memory = ResultMemory::kGiven,
     .infer = InferIota,
     .definition = {.element = DefineIota}},
};

}  // namespace

std::span<const OperatorRecord> CreationOperators() { return kRecords; }

}  // namespace ember::graph
