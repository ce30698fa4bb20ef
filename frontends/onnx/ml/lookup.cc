#include "frontends/onnx/ml/lookup.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/graph/graph.h"
#include "tensor/scalar.h"

namespace ember::onnx {
namespace {

constexpr size_t kFewKeys = 4;

// Returns the elements of a tensor that is a constant of the graph.
Column ReadConstant(Tensor constant) {
  Column column;
  column.dtype = constant.dtype();
  const auto& data =
      constant.value()->producer()->attributes().Get<graph::ConstantData>(
          "value");
  const auto count =
      static_cast<int64_t>(data.bytes.size()) / DTypeByteSize(column.dtype);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits =
        tensor::LoadElement(data.bytes.data(), i, column.dtype);
    if (column.is_float()) {
      column.floats.push_back(tensor::BitsToDouble(bits, column.dtype));
    } else {
      column.integers.push_back(tensor::BitsToInteger(bits, column.dtype));
    }
  }
  return column;
}

// Returns the indices of the keys in ascending order of the keys. Of equal keys
// only the last one is included, and no NaN.
template <typename T>
std::vector<size_t> SortKeys(const std::vector<T>& keys) {
  std::vector<size_t> order;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == keys[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<size_t> last;
  for (size_t i : order) {
    if (!last.empty() && keys[last.back()] == keys[i]) last.pop_back();
    last.push_back(i);
  }
  return last;
}

std::optional<size_t> FindNan(const std::vector<double>& keys) {
  std::optional<size_t> found;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (std::isnan(keys[i])) found = i;
  }
  return found;
}

bool AreConsecutive(const Column& keys, const std::vector<size_t>& order) {
  if (keys.is_float()) return false;
  for (size_t i = 1; i < order.size(); ++i) {
    if (keys.integers[order[i]] - 1 != keys.integers[order[i - 1]])
      return false;
  }
  return true;
}

struct Match {
  // Index of the key that matches an element, in the sorted keys. For an
  // element without a match it is any valid index, so that gathers stay in
  // range.
  Tensor position;
  Tensor hit;
};

Match MatchConsecutive(NodeContext& c, Tensor x, const Column& keys,
                       const std::vector<size_t>& order) {
  Tensor first = keys.Vector(c, {order.front()});
  Tensor last = keys.Vector(c, {order.back()});
  Tensor hit =
      And(LessEqual(Reshape(first, {}), x), LessEqual(x, Reshape(last, {})));
  Tensor offset = x - Reshape(first, {});
  return {Select(hit, offset, offset.Like(0)), hit};
}

// Searches for the last key that is not above x, with steps that halve from
// half the number of keys. That number must be a power of two, so the last key
// is repeated.
Match BinarySearch(NodeContext& c, Tensor x, const Column& keys,
                   std::vector<size_t>& order) {
  size_t size = 1;
  while (size < order.size()) size *= 2;
  order.resize(size, order.back());
  Tensor sorted = keys.Vector(c, order);
  Tensor position = Broadcast(c.Scalar(0, DType::kI64), x.shape());
  for (size_t step = size / 2; step > 0; step /= 2) {
    Tensor next = position + static_cast<double>(step);
    position = Select(LessEqual(Gather(sorted, next, 0), x), next, position);
  }
  return {position, Equal(Gather(sorted, position, 0), x)};
}

Tensor CompareAll(NodeContext& c, Tensor x, const Column& keys,
                  const Column& values, const std::vector<size_t>& order,
                  Tensor result) {
  for (size_t i : order) {
    Tensor key = Reshape(keys.Vector(c, {i}), {});
    result = Select(Equal(x, key), Reshape(values.Vector(c, {i}), {}), result);
  }
  return result;
}

bool CheckKeyType(NodeContext& c, Tensor x, const Column& keys) {
  const bool strings = x.carried_type() == TensorProto::STRING;
  if (!c.ok()) return false;
  if (strings == keys.strings && keys.is_float() == x.is_float()) return true;
  const auto name = [](bool is_string, DType type) {
    return is_string ? std::string("string") : std::string(DTypeName(type));
  };
  c.FailInvalid("input 0: expected elements of the keys' type " +
                name(keys.strings, keys.dtype) + ", found " +
                name(strings, x.dtype()));
  return false;
}

}  // namespace

Tensor Column::Vector(NodeContext& c,
                      const std::vector<size_t>& positions) const {
  if (is_float()) {
    std::vector<double> chosen;
    for (size_t i : positions) chosen.push_back(floats[i]);
    return NumberVector(c, chosen, dtype);
  }
  std::vector<int64_t> chosen;
  for (size_t i : positions) chosen.push_back(integers[i]);
  return Cast(HandleVector(c, chosen, strings), dtype)
      .Marked(strings ? TensorProto::STRING : 0);
}

Tensor Column::Scalar(NodeContext& c) const {
  return Reshape(Vector(c, {0}), {});
}

Column IntegerColumn(std::vector<int64_t> values, bool strings) {
  Column column;
  column.strings = strings;
  column.integers = std::move(values);
  return column;
}

Column FloatColumn(std::vector<double> values) {
  Column column;
  column.dtype = DType::kF32;
  column.floats = std::move(values);
  return column;
}

Column ReadTensorColumn(NodeContext& c, const std::string& name) {
  const AttributeProto* attribute = c.FindAttribute(name);
  if (attribute != nullptr &&
      attribute->t().data_type() == TensorProto::STRING) {
    const auto& strings = attribute->t().string_data();
    return IntegerColumn(StringHandles(c, {strings.begin(), strings.end()}),
                         true);
  }
  const Tensor constant = c.TensorAttribute(name);
  if (!constant || !c.ok()) return {};
  return ReadConstant(constant);
}

Column ReadColumn(NodeContext& c, const std::string& name) {
  std::string found;
  for (const char* type : {"_strings", "_int64s", "_floats", "_tensor"}) {
    if (!c.HasAttribute(name + type)) continue;
    if (!found.empty()) {
      c.FailInvalid("expected one of the attributes '" + found + "' and '" +
                    name + type + "', found both");
      return {};
    }
    found = name + type;
  }
  if (found == name + "_strings")
    return IntegerColumn(
        StringHandles(c, c.Strings(found).value_or(std::vector<std::string>())),
        true);
  if (found == name + "_int64s") return IntegerColumn(c.Integers(found, {}));
  if (found == name + "_floats")
    return FloatColumn(c.Floats(found).value_or(std::vector<double>()));
  if (found.empty()) c.FailInvalid("attribute '" + name + "_*' is missing");
  return ReadTensorColumn(c, found);
}

Tensor Lookup(NodeContext& c, Tensor x, const Column& keys,
              const Column& values, const Column& otherwise) {
  if (!CheckKeyType(c, x, keys)) return c.Wrap(nullptr);
  std::vector<size_t> order =
      keys.is_float() ? SortKeys(keys.floats) : SortKeys(keys.integers);
  // Elements and keys are compared in a type that holds both exactly: i64 for
  // integers, f64 if x is f64, else the type of the float keys.
  const DType type = keys.is_float() ? keys.dtype : DType::kI64;
  Column typed = keys;
  typed.dtype = x.dtype() == DType::kF64 ? DType::kF64 : type;
  Tensor element = Cast(x, typed.dtype);
  Tensor result = Broadcast(otherwise.Scalar(c), x.shape());
  if (order.size() <= kFewKeys) {
    result = CompareAll(c, element, typed, values, order, result);
  } else {
    const Match match = AreConsecutive(typed, order)
                            ? MatchConsecutive(c, element, typed, order)
                            : BinarySearch(c, element, typed, order);
    result = Select(match.hit,
                    Gather(values.Vector(c, order), match.position, 0), result);
  }
  const auto nan = FindNan(typed.floats);
  if (nan) {
    result =
        Select(IsNan(element), Reshape(values.Vector(c, {*nan}), {}), result);
  }
  return result.Marked(values.strings ? TensorProto::STRING : 0);
}

}  // namespace ember::onnx
