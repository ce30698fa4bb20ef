// Makes TensorFlow Lite files in memory, for tests.
//
//   ModelBuilder m;
//   const int x = m.Input({.type = schema::TensorType::FLOAT32, .shape = {2}});
//   const int y = m.Output({.shape = {2}});
//   m.Operator(schema::BuiltinOperator::ABS, {x}, {y});
//   const std::string file = m.Finish();
//
// It checks nothing, so that tests can make damaged files with it, too.
#ifndef EMBER_FRONTENDS_TFLITE_TESTING_MODEL_BUILDER_H_
#define EMBER_FRONTENDS_TFLITE_TESTING_MODEL_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tflite/schema_generated.h"

namespace ember::tflite {

struct TestTensor {
  schema::TensorType type = schema::TensorType::FLOAT32;
  std::vector<int32_t> shape = {};
  // Name of the tensor. If empty, the name is "t" followed by the tensor's
  // number.
  std::string name = "";
  std::vector<float> scales = {};
  std::vector<int64_t> zero_points = {};
  int axis = 0;
  bool is_variable = false;
  // shape_signature of the file: the shape with -1 for open dims.
  std::vector<int32_t> signature = {};
  // Bytes of the elements, if the tensor is a constant.
  std::string data = "";
  bool sparse = false;  // True: use `sparsity`.
};

class ModelBuilder {
 public:
  ModelBuilder() { Subgraph("main"); }

  // Begins a new subgraph, to which the following tensors and operators are
  // added. Returns the number of the subgraph.
  int Subgraph(const std::string& name);

  // Adds a tensor to the current subgraph, and returns the number of the
  // tensor.
  int Tensor(TestTensor tensor);
  int Input(TestTensor tensor);
  int Output(TestTensor tensor);
  void MakeOutput(int tensor) { graphs_.back().outputs.push_back(tensor); }
  template <typename T>
  int Constant(TestTensor tensor, const std::vector<T>& values) {
    tensor.data.assign(reinterpret_cast<const char*>(values.data()),
                       values.size() * sizeof(T));
    return Tensor(std::move(tensor));
  }

  // Returns the builder with which a test makes the options of an operator:
  // schema::CreateConv2DOptions(m.fbb(), …).Union().
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }
  // Adds an operator to the current subgraph. An input of -1 means an operand
  // that is left out.
  void Operator(schema::BuiltinOperator code,
                const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs,
                schema::BuiltinOptions kind = schema::BuiltinOptions::NONE,
                flatbuffers::Offset<void> options = 0);
  void Custom(const std::string& name, const std::vector<int32_t>& inputs,
              const std::vector<int32_t>& outputs,
              const std::vector<uint8_t>& options = {});
  // Adds a signature that names tensors of the subgraph.
  void Signature(const std::string& key, int subgraph,
                 const std::vector<std::pair<std::string, int>>& inputs,
                 const std::vector<std::pair<std::string, int>>& outputs);
  // Sets the sparsity for the following tensors whose field `sparse` is true.
  void Sparsity(flatbuffers::Offset<schema::SparsityParameters> sparsity) {
    sparsity_ = sparsity;
  }
  // Adds an entry of the model's metadata.
  void Metadata(const std::string& name, const std::string& data);
  void SetVersion(uint32_t version) { version_ = version; }

  // Returns the file; call it once.
  std::string Finish();

 private:
  struct Graph {
    std::string name;
    std::vector<flatbuffers::Offset<schema::Tensor>> tensors;
    std::vector<flatbuffers::Offset<schema::Operator>> operators;
    std::vector<int32_t> inputs, outputs;
  };
  uint32_t Code(schema::BuiltinOperator code, const std::string& custom);

  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<Graph> graphs_;
  std::vector<std::string> buffers_ = {""};
  std::vector<flatbuffers::Offset<schema::OperatorCode>> codes_;
  std::map<std::pair<int, std::string>, uint32_t> code_numbers_;
  std::vector<flatbuffers::Offset<schema::SignatureDef>> signatures_;
  std::vector<flatbuffers::Offset<schema::Metadata>> metadata_;
  flatbuffers::Offset<schema::SparsityParameters> sparsity_ = 0;
  uint32_t version_ = 3;
};

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_TESTING_MODEL_BUILDER_H_
