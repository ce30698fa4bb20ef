// Helpers shared by the operator families of this folder. Internal to this
// library.
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_SUPPORT_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_SUPPORT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators.h"

namespace ember::graph {

// Each function returns the records of one family; OperatorTable() joins them.
std::span<const OperatorRecord> CreationOperators();
std::span<const OperatorRecord> ElementwiseOperators();
std::span<const OperatorRecord> MovementOperators();
std::span<const OperatorRecord> IndexedOperators();
std::span<const OperatorRecord> ContractionOperators();
std::span<const OperatorRecord> ReductionOperators();
std::span<const OperatorRecord> ProgramOperators();
std::span<const OperatorRecord> StringOperators();

using InferredTypes = StatusOr<std::vector<TensorType>>;
using Indices = std::span<const tensor::Scalar>;
using tensor::Scalar;

inline InferredTypes OneType(DType dtype, Shape shape) {
  return std::vector<TensorType>{TensorType{dtype, std::move(shape)}};
}

// Returns an InvalidArgument error whose message is the parts, joined.
template <typename... Parts>
Status Mismatch(const Parts&... parts) {
  std::string message;
  ((message += parts), ...);
  return InvalidArgumentError(std::move(message));
}

inline const std::vector<int64_t>& IntegersOf(const Operation& operation,
                                              std::string_view name) {
  return operation.attributes().Get<std::vector<int64_t>>(name);
}
inline const Shape& ShapeOf(const Operation& operation, std::string_view name) {
  return operation.attributes().Get<Shape>(name);
}
inline int64_t IntegerOf(const Operation& operation, std::string_view name) {
  return operation.attributes().Get<int64_t>(name);
}
inline const std::string& StringOf(const Operation& operation,
                                   std::string_view name) {
  return operation.attributes().Get<std::string>(name);
}
// Returns an attribute, or the given value if the attribute is absent.
inline int64_t IntegerOr(const Operation& operation, std::string_view name,
                         int64_t otherwise) {
  return operation.attributes().Find(name) ? IntegerOf(operation, name)
                                           : otherwise;
}

inline bool IsOne(const Dim& dim) { return dim == Dim(1); }
inline bool IsZero(const Dim& dim) { return dim == Dim(0); }
// True if the dim is a constant below `limit`.
inline bool SurelyBelow(const Dim& dim, int64_t limit) {
  const auto value = dim.AsConstant();
  return value && *value < limit;
}

// The following functions return an error unless operands or attributes of an
// operation have the expected form. `attribute` is the attribute's name, which
// the error names; `operand`, `a` and `b` are the operands' numbers.
Status CheckAxis(const Operation& operation, std::string_view attribute,
                 int rank);
Status CheckAxes(std::span<const int64_t> axes, std::string_view attribute,
                 int rank);
Status CheckLength(size_t length, std::string_view attribute, size_t expected);
Status CheckPositive(std::span<const int64_t> values,
                     std::string_view attribute);
Status CheckRank(const Operation& operation, int operand, int expected);
Status CheckSameDType(const Operation& operation, int a, int b);
Status CheckIndexOperand(const Operation& operation, int operand);
// Returns an error unless the two dims are equal; `what_a` and `what_b`
// describe them in the message.
Status CheckSameDim(const Dim& a, std::string_view what_a, const Dim& b,
                    std::string_view what_b);

// Returns the extent of dim `dim` of operand number `operand`, as a scalar of
// the stage.
inline Scalar DimOf(ElementContext& context, int operand, int dim) {
  return context.Extent(context.operation().operand(operand)->shape()[dim]);
}

// These functions return 0, 1, the largest and the smallest value of a type, as
// scalars.
Scalar ZeroOf(ElementContext& context, DType type);
Scalar OneOf(ElementContext& context, DType type);
Scalar LargestOf(ElementContext& context, DType type);
Scalar SmallestOf(ElementContext& context, DType type);

// A combiner, looked up by its name in attributes, with its identity: the value
// that leaves the other operand unchanged.
struct NamedCombiner {
  std::string_view name;
  tensor::Combiner combiner;
  Scalar (*identity)(ElementContext& context, DType type);
};
const NamedCombiner* FindCombiner(std::string_view name);
// Returns an error if the operation's attribute `combiner` is unknown or does
// not support the dtype.
Status CheckCombiner(const Operation& operation, DType dtype);

// Returns the number of positions of a window along a dim of `extent` elements
// with this padding: (extent + low + high - dilation * (window - 1) - 1)
// floordiv stride + 1.
Dim WindowedExtent(const Dim& extent, const Dim& window, int64_t stride,
                   int64_t dilation, const Dim& low, const Dim& high);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_SUPPORT_H_
