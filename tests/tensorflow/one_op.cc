#include "tests/tensorflow/one_op.h"

#include <utility>

#include "frontends/tensorflow/import.h"

namespace ember::tests {

tensorflow::DataType FileTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return tensorflow::DT_BOOL;
    case DType::kI8:
      return tensorflow::DT_INT8;
    case DType::kI16:
      return tensorflow::DT_INT16;
    case DType::kI32:
      return tensorflow::DT_INT32;
    case DType::kI64:
      return tensorflow::DT_INT64;
    case DType::kU8:
      return tensorflow::DT_UINT8;
    case DType::kU16:
      return tensorflow::DT_UINT16;
    case DType::kU32:
      return tensorflow::DT_UINT32;
    case DType::kU64:
      return tensorflow::DT_UINT64;
    case DType::kF16:
      return tensorflow::DT_HALF;
    case DType::kBF16:
      return tensorflow::DT_BFLOAT16;
    case DType::kF32:
      return tensorflow::DT_FLOAT;
    case DType::kF64:
      return tensorflow::DT_DOUBLE;
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
      break;  // TensorFlow models in tests have no 8-bit floats.
  }
  return tensorflow::DT_FLOAT;
}

tensorflow::NodeDef ConstNode(const std::string& name, const Numbers& value) {
  return tensorflow::MakeConst(name, FileTypeOf(value.type), value.dims,
                               BytesOf(value));
}

StatusOr<std::vector<Numbers>> RunBytes(
    const std::string& file, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(
      tensorflow::ImportModelBytes(tensorflow::AsBytes(file), options), inputs);
}

StatusOr<std::vector<Numbers>> RunPath(
    const std::string& path, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  frontends::ModelFile file(path);
  return RunOnNumbers(tensorflow::ImportModel(file, options), inputs);
}

OneOp& OneOp::Input(Numbers value) {
  const std::string name = "operand" + std::to_string(operands_.size());
  graph_.Placeholder(name, FileTypeOf(value.type), value.dims);
  operands_.push_back(name);
  values_.push_back(std::move(value));
  return *this;
}

OneOp& OneOp::Constant(const Numbers& value) {
  const std::string name = "operand" + std::to_string(operands_.size());
  graph_.Add(ConstNode(name, value));
  operands_.push_back(name);
  return *this;
}

OneOp& OneOp::Attribute(const tensorflow::TestAttribute& attribute) {
  attributes_.push_back(attribute);
  return *this;
}

StatusOr<std::vector<Numbers>> OneOp::Run() {
  graph_.Node("result", op_, operands_, attributes_);
  frontends::ImportOptions options;
  options.entry = "->";
  for (int i = 0; i < results_; ++i)
    options.entry += (i > 0 ? ",result:" : "result:") + std::to_string(i);
  return RunBytes(graph_.Finish(), values_, options);
}

}  // namespace ember::tests
