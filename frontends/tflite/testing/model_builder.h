// TensorFlow Lite files made in memory, for tests.
//
//   ModelBuilder m;
//   const int x = m.Input({.type = schema::TensorType::FLOAT32, .shape = {2}});
//   const int y = m.Output({.shape = {2}});
//   m.Operator(schema::BuiltinOperator::ABS, {x}, {y});
//   const std::string file = m.Finish();
//
// Nothing is checked: tests of damaged files are made with it, too.
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
  std::string name = "";  // empty: "t" and its number
  std::vector<float> scales = {};
  std::vector<int64_t> zero_points = {};
  int axis = 0;
  bool is_variable = false;
  std::vector<int32_t> signature = {};  // the shape with -1 for open dims
  std::string data = "";                // of constants
  bool sparse = false;                  // as `sparsity` was given
};

class ModelBuilder {
 public:
  ModelBuilder() { Subgraph("main"); }

  // What follows is of a new subgraph; its number.
  int Subgraph(const std::string& name);

  // Tensors of the subgraph; their numbers.
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

  // For options: schema::CreateConv2DOptions(m.fbb(), …).Union().
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }
  // Inputs of -1 are left out.
  void Operator(schema::BuiltinOperator code,
                const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs,
                schema::BuiltinOptions kind = schema::BuiltinOptions::NONE,
                flatbuffers::Offset<void> options = 0);
  void Custom(const std::string& name, const std::vector<int32_t>& inputs,
              const std::vector<int32_t>& outputs,
              const std::vector<uint8_t>& options = {});
  // Of tensors of the subgraph by the names that it gives them.
  void Signature(const std::string& key, int subgraph,
                 const std::vector<std::pair<std::string, int>>& inputs,
                 const std::vector<std::pair<std::string, int>>& outputs);
  // Of the next tensors that say so.
  void Sparsity(flatbuffers::Offset<schema::SparsityParameters> sparsity) {
    sparsity_ = sparsity;
  }
  // An entry of the model's metadata.
  void Metadata(const std::string& name, const std::string& data);
  void SetVersion(uint32_t version) { version_ = version; }

  // Once.
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
