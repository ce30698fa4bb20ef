#include "tests/caffe2/one_operator.h"

#include <sstream>

#include "frontends/caffe2/import.h"
#include "frontends/caffe2/testing/sample_models.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

template <typename T>
std::string Argument(const std::string& name, const std::string& field,
                     const std::vector<T>& values) {
  std::ostringstream text;
  text.precision(9);
  text << "arg { name: \"" << name << "\"";
  for (const T& value : values) text << " " << field << ": " << value;
  text << " }\n";
  return text.str();
}

std::string FillOf(const std::string& name, const Numbers& value) {
  std::string text = "op { output: \"" + name + "\" ";
  const bool is_float = value.type == DType::kF32;
  text += is_float                     ? "type: \"GivenTensorFill\" "
          : value.type == DType::kBool ? "type: \"GivenTensorBoolFill\" "
          : value.type == DType::kI32  ? "type: \"GivenTensorIntFill\" "
                                       : "type: \"GivenTensorInt64Fill\" ";
  text += Argument("shape", "ints", value.dims);
  if (is_float) {
    text += Argument("values", "floats", value.values);
  } else {
    text += Argument(
        "values", "ints",
        std::vector<int64_t>(value.values.begin(), value.values.end()));
  }
  return text + "}\n";
}

}  // namespace

std::string Int(const std::string& name, int64_t value) {
  return Argument(name, "i", std::vector<int64_t>{value});
}
std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  return Argument(name, "ints", values);
}
std::string Real(const std::string& name, double value) {
  return Argument(name, "f", std::vector<double>{value});
}
std::string Word(const std::string& name, const std::string& value) {
  return Argument(name, "s", std::vector<std::string>{"\"" + value + "\""});
}

StatusOr<std::vector<Numbers>> RunCaffe2(
    const std::string& predict_net, const std::string& init_net,
    const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(caffe2::ImportModelBytes(predict_net, init_net, options),
                      inputs);
}

OneCaffe2Operator& OneCaffe2Operator::Input(Numbers value) {
  operands_.emplace_back(false, std::move(value));
  return *this;
}

OneCaffe2Operator& OneCaffe2Operator::Constant(Numbers value) {
  operands_.emplace_back(true, std::move(value));
  return *this;
}

StatusOr<graph::Graph> OneCaffe2Operator::Import() const {
  std::string init, op = "op { type: \"" + type_ + "\"\n" + arguments_, ends;
  frontends::ImportOptions options;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto& [is_constant, value] = operands_[i];
    const std::string name = "x" + std::to_string(i);
    op += "input: \"" + name + "\" ";
    ends += "external_input: \"" + name + "\" ";
    if (is_constant) {
      init += FillOf(name, value);
    } else {
      options.input_shapes[name].assign(value.dims.begin(), value.dims.end());
    }
  }
  for (int i = 0; i < results_; ++i) {
    const std::string name = "\"y" + std::to_string(i) + "\" ";
    op += "output: " + name;
    ends += "external_output: " + name;
  }
  return caffe2::ImportModelBytes(caffe2::BinaryNet(op + "}\n" + ends),
                                  caffe2::BinaryNet(init), options);
}

StatusOr<std::vector<Numbers>> OneCaffe2Operator::Run() const {
  std::vector<Numbers> inputs;
  for (const auto& [is_constant, value] : operands_)
    if (!is_constant) inputs.push_back(value);
  return RunOnNumbers(Import(), inputs);
}

}  // namespace ember::tests
