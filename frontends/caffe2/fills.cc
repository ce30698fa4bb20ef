// Imports operators that make constants; init nets consist of them.
#include <cstring>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "frontends/caffe2/operator_table.h"

namespace ember::caffe2 {
namespace {

// Largest number of elements of all constants of one operator. It is far above
// any model's.
constexpr int64_t kMaxElements = int64_t{1} << 34;

// Returns the argument "shape" of an operator without operands. With an
// operand, it is the operand's contents if "input_as_shape" is set, else the
// operand's shape followed by "extra_shape".
std::optional<Shape> FilledShape(OperatorContext& c) {
  std::vector<int64_t> dims = c.Integers("shape");
  Shape shape;
  if (c.input_count() > 0) {
    if (c.Flag("input_as_shape", false)) {
      const auto sizes = c.Sizes(c.Input(0), "shape (input 0)");
      if (!sizes) return std::nullopt;
      shape = *sizes;
    } else {
      shape = c.Input(0).shape();
    }
    dims = c.Integers("extra_shape");
  }
  int64_t count = 1;
  for (const int64_t dim : dims) {
    const auto product = CheckedMultiply(count, dim);
    if (dim < 0 || dim > kMaxElements || !product || *product > kMaxElements) {
      c.FailInvalid(
          "shape: expected dims of 0 or more with at most 2^34 "
          "elements, found " +
          std::to_string(dim));
      return std::nullopt;
    }
    count = *product;
    shape.push_back(Dim(dim));
  }
  if (shape.size() > static_cast<size_t>(kMaxRank)) {
    c.FailInvalid("shape: expected at most 16 dims, found " +
                  std::to_string(shape.size()));
  }
  return c.ok() ? std::optional<Shape>(shape) : std::nullopt;
}

// Sets the output to a constant of this type with the numbers of the argument
// "values".
void Given(OperatorContext& c, DType type) {
  const std::optional<Shape> shape = FilledShape(c);
  if (!shape) return;
  const auto dims = ops::AsConstants(*shape);
  if (!dims) return c.FailUnsupported("values for an open shape");
  int64_t count = 1;
  for (const int64_t dim : *dims) count *= dim;
  const Argument* values = FindArgument(c.op(), "values");
  const bool is_float = IsFloat(type);
  const int64_t found = values == nullptr ? 0
                        : is_float        ? values->floats_size()
                                          : values->ints_size();
  if (found != count) {
    return c.FailInvalid("values: expected " + std::to_string(count) +
                         (is_float ? " floats" : " integers") +
                         ", as the shape says, found " + std::to_string(found));
  }
  // A constant of f32 refers to the numbers in the parsed net instead of
  // copying them.
  if (type == DType::kF32 && count > 0) {
    const auto* bytes =
        reinterpret_cast<const uint8_t*>(values->floats().data());
    return c.SetOutput(c.Wrap(c.builder().Constant(
        type, *dims,
        {.owner = c.owner(),
         .bytes = {bytes, static_cast<size_t>(count) * sizeof(float)}})));
  }
  const auto width = static_cast<size_t>(DTypeByteSize(type));
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* to = bytes.data() + static_cast<size_t>(i) * width;
    const int at = static_cast<int>(i);
    if (is_float) {
      const auto wide = static_cast<double>(values->floats(at));
      std::memcpy(to, &wide, width);
    } else {
      // Copies the low bytes of the 64-bit value, which come first in memory
      // (little-endian).
      const int64_t value = type == DType::kBool
                                ? static_cast<int64_t>(values->ints(at) != 0)
                                : values->ints(at);
      std::memcpy(to, &value, width);
    }
  }
  c.SetOutput(c.Wrap(
      c.builder().Constant(type, *dims, graph::ConstantData::Copy(bytes))));
}

}  // namespace

void ImportGivenFloats(OperatorContext& c) { Given(c, DType::kF32); }
void ImportGivenDoubles(OperatorContext& c) { Given(c, DType::kF64); }
void ImportGivenBools(OperatorContext& c) { Given(c, DType::kBool); }
void ImportGivenInts(OperatorContext& c) { Given(c, DType::kI32); }
void ImportGivenInt64s(OperatorContext& c) { Given(c, DType::kI64); }
void ImportGivenInt16s(OperatorContext& c) { Given(c, DType::kI16); }

// Imports ConstantFill. Without "dtype", the constant has the type of the
// argument "value".
void ImportConstantFill(OperatorContext& c) {
  const Argument* value = FindArgument(c.op(), "value");
  const bool is_integer = value != nullptr && value->has_i();
  const DType type = c.Type("dtype", is_integer ? DType::kI64 : DType::kF32);
  const double number = c.Number("value", 0);
  const std::optional<Shape> shape = FilledShape(c);
  if (shape) c.SetOutput(Broadcast(c.Scalar(number, type), *shape));
}

}  // namespace ember::caffe2
