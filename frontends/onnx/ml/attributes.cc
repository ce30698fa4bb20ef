#include "frontends/onnx/ml/attributes.h"

#include <utility>

namespace ember::onnx {

int64_t StringHandle(NodeContext& c, std::string_view bytes) {
  return c.builder().StringHandle(bytes);
}

std::vector<int64_t> StringHandles(NodeContext& c,
                                   const std::vector<std::string>& strings) {
  std::vector<int64_t> handles;
  for (const std::string& bytes : strings)
    handles.push_back(StringHandle(c, bytes));
  return handles;
}

Tensor HandleVector(NodeContext& c, const std::vector<int64_t>& values,
                    bool strings) {
  return c.Integers64(values).Marked(strings ? TensorProto::STRING : 0);
}

Numbers ReadTensorNumbers(NodeContext& c, const std::string& name) {
  const Tensor tensor = c.TensorAttribute(name);
  if (!tensor || !c.ok()) return {};
  auto contents = c.builder().ConstantContents(tensor.value());
  EMBER_CHECK(contents.has_value()) << "attribute " << name;
  return {*std::move(contents), tensor.dtype() == DType::kF64};
}

Numbers ReadNumbers(NodeContext& c, const std::string& name) {
  const std::string as_tensor = name + "_as_tensor";
  std::vector<double> floats = c.Floats(name).value_or(std::vector<double>());
  Numbers wide = ReadTensorNumbers(c, as_tensor);
  if (!floats.empty() && !wide.empty()) {
    c.FailInvalid("expected one of the attributes '" + name + "' and '" +
                  as_tensor + "', found both");
  }
  return floats.empty() ? std::move(wide) : Numbers{std::move(floats), false};
}

Tensor NumberVector(NodeContext& c, const std::vector<double>& values,
                    DType dtype) {
  if (dtype == DType::kF64) return c.Vector(dtype, values);
  if (dtype == DType::kF32) {
    return c.Vector(dtype, std::vector<float>(values.begin(), values.end()));
  }
  return Cast(c.Vector(DType::kF64, values), dtype);
}

Labels ReadLabels(NodeContext& c, std::string_view strings,
                  std::string_view integers) {
  const std::vector<std::string> texts =
      c.Strings(strings).value_or(std::vector<std::string>());
  std::vector<int64_t> numbers =
      c.Integers(integers).value_or(std::vector<int64_t>());
  if (texts.empty() == numbers.empty()) {
    c.FailInvalid("expected one of the attributes '" + std::string(strings) +
                  "' and '" + std::string(integers) + "', found " +
                  (texts.empty() ? "none" : "both"));
    return {};
  }
  if (texts.empty()) return {std::move(numbers), false};
  return {StringHandles(c, texts), true};
}

Tensor ReadRows(NodeContext& c) {
  if (!c.CheckRank(0, 1, 2)) return Tensor();
  const Tensor x = c.Input(0);
  return x.rank() == 1 ? Unsqueeze(x, {0}) : x;
}

DType ScoreType(Tensor x) {
  return x.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
}

bool CheckCount(NodeContext& c, std::string_view what, size_t found,
                size_t expected) {
  if (!c.ok()) return false;
  if (found == expected) return true;
  c.FailInvalid("attribute '" + std::string(what) + "': expected " +
                std::to_string(expected) + " elements, found " +
                std::to_string(found));
  return false;
}

}  // namespace ember::onnx
