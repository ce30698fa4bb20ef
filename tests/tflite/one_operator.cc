#include "tests/tflite/one_operator.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "frontends/tflite/import.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tests {

schema::TensorType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return schema::TensorType::BOOL;
    case DType::kI8:
      return schema::TensorType::INT8;
    case DType::kI16:
      return schema::TensorType::INT16;
    case DType::kI32:
      return schema::TensorType::INT32;
    case DType::kI64:
      return schema::TensorType::INT64;
    case DType::kU8:
      return schema::TensorType::UINT8;
    case DType::kU16:
      return schema::TensorType::UINT16;
    case DType::kU32:
      return schema::TensorType::UINT32;
    case DType::kU64:
      return schema::TensorType::UINT64;
    case DType::kF16:
      return schema::TensorType::FLOAT16;
    case DType::kBF16:
      return schema::TensorType::BFLOAT16;
    case DType::kF32:
      return schema::TensorType::FLOAT32;
    case DType::kF64:
      return schema::TensorType::FLOAT64;
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      break;  // TensorFlow Lite files have no 8-bit floats.
  }
  return schema::TensorType::FLOAT32;
}

StatusOr<std::vector<Numbers>> RunFile(
    const std::string& file, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(
      tflite::ImportModelBytes(
          {reinterpret_cast<const uint8_t*>(file.data()), file.size()}, nullptr,
          options),
      inputs);
}

namespace {

tflite::TestTensor Described(DType dtype, const std::vector<int64_t>& dims,
                             Scale scale) {
  tflite::TestTensor tensor;
  tensor.type = TypeOf(dtype);
  tensor.shape.assign(dims.begin(), dims.end());
  if (scale.scale > 0) {
    tensor.scales = {scale.scale};
    tensor.zero_points = {scale.zero_point};
  }
  return tensor;
}

}  // namespace

OneOperator& OneOperator::Input(Numbers value, Scale scale) {
  inputs_.push_back(model_.Input(Described(value.type, value.dims, scale)));
  values_.push_back(std::move(value));
  return *this;
}

OneOperator& OneOperator::Constant(const Numbers& value, Scale scale) {
  tflite::TestTensor tensor = Described(value.type, value.dims, scale);
  tensor.data = BytesOf(value);
  inputs_.push_back(model_.Tensor(std::move(tensor)));
  return *this;
}

OneOperator& OneOperator::ConstantWithScales(const Numbers& value,
                                             std::vector<float> scales,
                                             int axis) {
  tflite::TestTensor tensor = Described(value.type, value.dims, {});
  tensor.data = BytesOf(value);
  tensor.zero_points.assign(scales.size(), 0);
  tensor.scales = std::move(scales);
  tensor.axis = axis;
  inputs_.push_back(model_.Tensor(std::move(tensor)));
  return *this;
}

OneOperator& OneOperator::Variable(DType dtype,
                                   const std::vector<int64_t>& dims) {
  tflite::TestTensor tensor = Described(dtype, dims, {});
  tensor.is_variable = true;
  inputs_.push_back(model_.Tensor(std::move(tensor)));
  return *this;
}

OneOperator& OneOperator::Absent() {
  inputs_.push_back(-1);
  return *this;
}

OneOperator& OneOperator::Output(DType dtype, const std::vector<int64_t>& dims,
                                 Scale scale) {
  outputs_.push_back(model_.Output(Described(dtype, dims, scale)));
  return *this;
}

StatusOr<std::vector<Numbers>> OneOperator::Run(std::vector<Numbers> state) {
  if (file_.empty()) {
    if (custom_.empty()) {
      model_.Operator(code_, inputs_, outputs_, kind_, options_);
    } else {
      model_.Custom(custom_, inputs_, outputs_, custom_options_);
    }
    file_ = model_.Finish();
  }
  std::vector<Numbers> inputs = values_;
  inputs.insert(inputs.end(), state.begin(), state.end());
  return RunFile(file_, inputs);
}

}  // namespace ember::tests
