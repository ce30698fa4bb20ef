// Runs cases/*.case: graphs of one TensorFlow operator
// (tests/import_cases/README.md).
#include <string>
#include <vector>

#include "base/concat.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/tensorflow/import.h"
#include "frontends/tensorflow/testing/graph_maker.h"
#include "tests/import_cases/import_case.h"
#include "tests/import_cases/run_import_cases.h"
#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

// Makes an attribute of a value of any type.
struct Maker {
  const std::string& name;

  using Attribute = tensorflow::TestAttribute;
  Attribute operator()(int64_t value) const {
    return tensorflow::Int(name, value);
  }
  Attribute operator()(double value) const {
    return tensorflow::Float(name, static_cast<float>(value));
  }
  Attribute operator()(bool value) const {
    return tensorflow::Flag(name, value);
  }
  Attribute operator()(DType value) const {
    return tensorflow::Type(name, FileTypeOf(value));
  }
  Attribute operator()(const std::string& value) const {
    return tensorflow::Text(name, value);
  }
  Attribute operator()(const std::vector<int64_t>& values) const {
    return tensorflow::Ints(name, values);
  }
  Attribute operator()(const std::vector<double>& values) const {
    return tensorflow::Floats(name, {values.begin(), values.end()});
  }
  Attribute operator()(const std::vector<std::string>& values) const {
    return tensorflow::Texts(name, values);
  }
};

StatusOr<graph::Graph> ImportOp(const ImportCase& one) {
  if (!one.settings.empty()) {
    return InvalidArgumentError(
        Concat({"unknown setting '", one.settings.begin()->first, "'"}));
  }
  tensorflow::GraphMaker graph;
  std::vector<std::string> operands;
  for (const CaseTensor& operand : one.operands) {
    if (operand.is_strings || operand.is_absent) {
      return InvalidArgumentError(
          Concat({"expected numbers as '", operand.name, "'"}));
    }
    operands.push_back(operand.name);
    if (operand.is_constant) {
      graph.Add(ConstNode(operand.name, operand.numbers));
      continue;
    }
    std::vector<int64_t> dims = operand.numbers.dims;
    for (size_t i = 0; i < dims.size(); ++i)
      if (!operand.open[i].empty()) dims[i] = -1;
    graph.Placeholder(operand.name, FileTypeOf(operand.numbers.type), dims);
  }
  std::vector<tensorflow::TestAttribute> attributes;
  for (const auto& [name, value] : one.attributes)
    attributes.push_back(std::visit(Maker{name}, value));
  graph.Node("result", one.op, operands, attributes);
  frontends::ImportOptions options;
  options.entry = "->result:0";
  for (size_t i = 1; i < one.results.size(); ++i)
    options.entry += ",result:" + std::to_string(i);
  return tensorflow::ImportModelBytes(tensorflow::AsBytes(graph.Finish()),
                                      options);
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  return ember::tests::RunImportCases(argc, argv, "tests/tensorflow/cases",
                                      ember::tests::ImportOp);
}
