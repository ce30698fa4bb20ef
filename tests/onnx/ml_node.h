// Makes a model of one operator of ai.onnx.ml, with attributes of every type,
// and runs it end to end.
//
//   MlNode node("Binarizer", 1);
//   node.Set("threshold", 1.5).Input<float>({2}, {1, 2});
//   ExpectResult<float>(node, 0, {2}, {0, 1});
//
// Operands and results keep their own C++ types: 64-bit integers are exact.
#ifndef EMBER_TESTS_ONNX_ML_NODE_H_
#define EMBER_TESTS_ONNX_ML_NODE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"
#include "tests/onnx/one_node.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

using onnx::AttributeProto;
using onnx::TensorProto;

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

template <typename T>
inline constexpr DType kDType = DType::kF32;
template <>
inline constexpr DType kDType<double> = DType::kF64;
template <>
inline constexpr DType kDType<int64_t> = DType::kI64;
template <>
inline constexpr DType kDType<int32_t> = DType::kI32;
template <>
inline constexpr DType kDType<int16_t> = DType::kI16;
template <>
inline constexpr DType kDType<uint8_t> = DType::kU8;

// A model of one node with inputs x0, x1 … and outputs y0, y1 ….
class MlNode {
 public:
  explicit MlNode(const std::string& operator_name, int opset = 3,
                  int outputs = 1) {
    auto& import = *model_.proto().add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(opset);
    node_ = &model_.Node(operator_name, {}, {});
    node_->set_domain("ai.onnx.ml");
    for (int i = 0; i < outputs; ++i) {
      node_->add_output("y" + std::to_string(i));
      model_.Output("y" + std::to_string(i));
    }
  }

  template <typename T>
  MlNode& Input(const std::vector<int64_t>& dims,
                const std::vector<T>& values) {
    const std::string name = "x" + std::to_string(inputs_.size());
    const DType type = kDType<T>;
    static constexpr std::pair<DType, TensorProto::DataType> kTypes[] = {
        {DType::kF32, TensorProto::FLOAT}, {DType::kF64, TensorProto::DOUBLE},
        {DType::kI64, TensorProto::INT64}, {DType::kI32, TensorProto::INT32},
        {DType::kI16, TensorProto::INT16},
    };
    for (const auto& [own, onnx_type] : kTypes) {
      if (own == type)
        model_.Input(name, {dims.begin(), dims.end()}, onnx_type);
    }
    node_->add_input(name);
    auto tensor = vm::Tensor::Allocate(type, dims);
    EXPECT_TRUE(tensor.ok());
    std::copy(values.begin(), values.end(), static_cast<T*>(tensor->data));
    inputs_.push_back(*std::move(tensor));
    return *this;
  }

  // Adds a map, as its values and its keys (i64 or strings).
  MlNode& Map(TensorProto::DataType type, vm::Tensor values, vm::Tensor keys) {
    const std::string name = "x" + std::to_string(inputs_.size());
    onnx::ValueInfoProto& input = *model_.graph().add_input();
    input.set_name(name);
    onnx::TypeProto::Map& map = *input.mutable_type()->mutable_map_type();
    map.set_key_type(keys.strings ? TensorProto::STRING : TensorProto::INT64);
    map.mutable_value_type()->mutable_tensor_type()->set_elem_type(type);
    node_->add_input(name);
    inputs_.push_back(std::move(values));
    inputs_.push_back(std::move(keys));
    return *this;
  }

  MlNode& Set(const std::string& name, int64_t value) {
    Add(name, AttributeProto::INT).set_i(value);
    return *this;
  }
  MlNode& Set(const std::string& name, int value) {
    return Set(name, int64_t{value});
  }
  MlNode& Set(const std::string& name, double value) {
    Add(name, AttributeProto::FLOAT).set_f(static_cast<float>(value));
    return *this;
  }
  MlNode& Set(const std::string& name, const char* value) {
    Add(name, AttributeProto::STRING).set_s(value);
    return *this;
  }
  MlNode& Set(const std::string& name, const Ints& values) {
    AttributeProto& attribute = Add(name, AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
    return *this;
  }
  MlNode& Set(const std::string& name, const Floats& values) {
    AttributeProto& attribute = Add(name, AttributeProto::FLOATS);
    for (double value : values) attribute.add_floats(static_cast<float>(value));
    return *this;
  }
  MlNode& Set(const std::string& name, const Strings& values) {
    AttributeProto& attribute = Add(name, AttributeProto::STRINGS);
    for (const std::string& value : values) attribute.add_strings(value);
    return *this;
  }
  template <typename T>
  MlNode& SetTensor(const std::string& name, TensorProto::DataType type,
                    const std::vector<T>& values) {
    TensorProto& tensor = *Add(name, AttributeProto::TENSOR).mutable_t();
    tensor.set_data_type(type);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    tensor.set_raw_data(values.data(), values.size() * sizeof(T));
    return *this;
  }

  StatusOr<std::vector<vm::Tensor>> Run() {
    return RunGraph(model_.Import(), inputs_);
  }

  // Runs the node, which must fail, and returns the message of the error; "no
  // error" if it does not fail.
  std::string Error() {
    const auto results = Run();
    return results.ok() ? "no error" : results.status().ToString();
  }

 private:
  AttributeProto& Add(const std::string& name,
                      AttributeProto::AttributeType type) {
    AttributeProto& attribute = *node_->add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  onnx::ModelBuilder model_;
  onnx::NodeProto* node_;
  std::vector<vm::Tensor> inputs_;
};

template <typename T>
void ExpectResult(MlNode& node, int output, const std::vector<int64_t>& dims,
                  const std::vector<T>& values) {
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const vm::Tensor& result = (*results)[output];
  EXPECT_EQ(result.type, kDType<T>) << result.TypeText();
  EXPECT_EQ(result.dims, dims);
  const auto got = result.elements<T>();
  ASSERT_EQ(got.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(got[i], values[i],
                1e-5 * std::max(1.0, std::abs(1.0 * values[i])))
        << i;
  }
}

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_ML_NODE_H_
