// Builds small ONNX models in code, for tests.
//
//   ModelBuilder m(13);
//   m.Input("x", {2, 3});
//   m.Node("Softmax", {"x"}, {"y"}, {{"axis", 1}});
//   m.Output("y");
//   StatusOr<graph::Graph> graph = m.Import();
#ifndef EMBER_FRONTENDS_ONNX_TESTING_MODEL_BUILDER_H_
#define EMBER_FRONTENDS_ONNX_TESTING_MODEL_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "frontends/onnx/import/import.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

// A dim of a test model: its extent, or the name of an open dim; "" for an open
// dim without a name.
using TestDim = std::variant<int64_t, std::string>;

struct TestAttribute {
  std::string name;
  std::variant<int64_t, double, std::string, std::vector<int64_t>,
               std::vector<double>>
      value;

  TestAttribute(std::string n, int v) : name(std::move(n)), value(int64_t{v}) {}
  TestAttribute(std::string n, double v) : name(std::move(n)), value(v) {}
  TestAttribute(std::string n, const char* v)
      : name(std::move(n)), value(std::string(v)) {}
  TestAttribute(std::string n, std::vector<int64_t> v)
      : name(std::move(n)), value(std::move(v)) {}
  TestAttribute(std::string n, std::vector<double> v)
      : name(std::move(n)), value(std::move(v)) {}
};

class ModelBuilder {
 public:
  explicit ModelBuilder(int opset = 17);

  ModelProto& proto() { return model_; }
  GraphProto& graph() { return *model_.mutable_graph(); }

  void Input(const std::string& name, const std::vector<TestDim>& dims,
             TensorProto::DataType type = TensorProto::FLOAT);
  void Output(const std::string& name);
  NodeProto& Node(const std::string& op_type,
                  const std::vector<std::string>& inputs,
                  const std::vector<std::string>& outputs,
                  const std::vector<TestAttribute>& attributes = {});
  void Floats(const std::string& name, const std::vector<int64_t>& dims,
              const std::vector<float>& values);
  void Integers(const std::string& name, const std::vector<int64_t>& values);

  StatusOr<ember::graph::Graph> Import(const ImportOptions& options = {},
                                       const std::string& folder = "");

 private:
  ModelProto model_;
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_TESTING_MODEL_BUILDER_H_
