#include "tests/random_models/model_text.h"

#include <cstdio>

#include "base/dtype.h"
#include "frontends/onnx/node/tensor_proto.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;

std::string TypeText(int32_t type) {
  const StatusOr<DType> dtype = onnx::DTypeFromOnnx(type);
  return dtype.ok() ? std::string(DTypeName(*dtype)) : onnx::OnnxTypeName(type);
}

std::string RealText(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", static_cast<double>(value));
  return text;
}

// Returns the type and dims of a constant, and its elements if it is a short
// integer tensor, such as axes or a shape.
std::string TensorText(const onnx::TensorProto& tensor) {
  std::string text = TypeText(tensor.data_type()) + "[";
  int64_t count = 1;
  for (int i = 0; i < tensor.dims_size(); ++i) {
    text += (i > 0 ? "," : "") + std::to_string(tensor.dims(i));
    count *= tensor.dims(i);
  }
  text += "]";
  if (count > 8 || tensor.data_type() != onnx::TensorProto::INT64) return text;
  const StatusOr<onnx::TensorBytes> bytes =
      onnx::DecodeTensor(tensor, nullptr, nullptr);
  if (!bytes.ok()) return text;
  const auto* elements = reinterpret_cast<const int64_t*>(bytes->bytes.data());
  for (int64_t i = 0; i < count; ++i)
    text += (i > 0 ? "," : "=") + std::to_string(elements[i]);
  return text;
}

std::string GraphText(const onnx::GraphProto& graph);

std::string AttributeText(const AttributeProto& attribute) {
  std::string text = attribute.name() + "=";
  switch (attribute.type()) {
    case AttributeProto::INT:
      return text + std::to_string(attribute.i());
    case AttributeProto::FLOAT:
      return text + RealText(attribute.f());
    case AttributeProto::STRING:
      return text + attribute.s();
    case AttributeProto::TENSOR:
      return text + TensorText(attribute.t());
    case AttributeProto::GRAPH:
      return text + "{" + GraphText(attribute.g()) + "}";
    case AttributeProto::INTS:
      for (const int64_t value : attribute.ints())
        text += std::to_string(value) + "|";
      return text;
    case AttributeProto::FLOATS:
      for (const float value : attribute.floats())
        text += RealText(value) + "|";
      return text;
    case AttributeProto::STRINGS:
      for (const std::string& value : attribute.strings()) text += value + "|";
      return text;
    default:
      return text + "?";
  }
}

std::string NodeText(const onnx::NodeProto& node) {
  std::string text;
  for (int i = 0; i < node.output_size(); ++i)
    text += (i > 0 ? ", " : "") + node.output(i);
  text += " = " + (node.domain().empty() ? "" : node.domain() + "::") +
          node.op_type() + "(";
  for (int i = 0; i < node.input_size(); ++i)
    text += (i > 0 ? ", " : "") + node.input(i);
  text += ")";
  if (node.attribute_size() == 0) return text;
  text += "{";
  for (int i = 0; i < node.attribute_size(); ++i)
    text += (i > 0 ? ", " : "") + AttributeText(node.attribute(i));
  return text + "}";
}

std::string GraphText(const onnx::GraphProto& graph) {
  std::string text;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    const auto& type = input.type().tensor_type();
    text += input.name() + ": " + TypeText(type.elem_type()) + "[";
    for (int i = 0; i < type.shape().dim_size(); ++i) {
      const auto& dim = type.shape().dim(i);
      text += (i > 0 ? "," : "") + (dim.has_dim_param()
                                        ? dim.dim_param()
                                        : std::to_string(dim.dim_value()));
    }
    text += "]; ";
  }
  for (const onnx::TensorProto& initializer : graph.initializer())
    text += initializer.name() + " = " + TensorText(initializer) + "; ";
  for (const onnx::NodeProto& node : graph.node())
    text += NodeText(node) + "; ";
  text += "->";
  for (const onnx::ValueInfoProto& output : graph.output())
    text += " " + output.name();
  return text;
}

}  // namespace

std::string ModelText(const onnx::ModelProto& model) {
  return "opset " + std::to_string(model.opset_import(0).version()) + ": " +
         GraphText(model.graph());
}

}  // namespace ember::tests
