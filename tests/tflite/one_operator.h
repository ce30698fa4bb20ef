// Runs one TensorFlow Lite operator end to end: makes a file, imports, compiles
// and executes it, with operands and results written as numbers.
//
//   OneOperator op(schema::BuiltinOperator::ABS);
//   op.Input(F32({2}, {-1, 2}));
//   op.Output(DType::kF32, {2});
//   ExpectNumbers(op.Run(), {F32({2}, {1, 2})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_TFLITE_ONE_OPERATOR_H_
#define EMBER_TESTS_TFLITE_ONE_OPERATOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/frontend.h"
#include "frontends/tflite/testing/model_builder.h"
#include "tests/formats/numbers.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

namespace schema = tflite::schema;

// The quantization of a tensor with one scale.
struct Scale {
  float scale = 0;
  int64_t zero_point = 0;
};

schema::TensorType TypeOf(DType dtype);

// Imports, compiles and runs a file. Returns all results, state last.
StatusOr<std::vector<Numbers>> RunFile(
    const std::string& file, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

class OneOperator {
 public:
  explicit OneOperator(schema::BuiltinOperator code) : code_(code) {}
  explicit OneOperator(std::string custom)
      : code_(schema::BuiltinOperator::CUSTOM), custom_(std::move(custom)) {}

  // Adds the next operand, which is given at run time.
  OneOperator& Input(Numbers value, Scale scale = {});
  // Adds the next operand, which is known at compile time.
  OneOperator& Constant(const Numbers& value, Scale scale = {});
  OneOperator& ConstantWithScales(const Numbers& value,
                                  std::vector<float> scales, int axis);
  // Adds a variable, which is zeros before the first run.
  OneOperator& Variable(DType dtype, const std::vector<int64_t>& dims);
  OneOperator& Absent();
  // Adds a result. `dims` is the shape in the file, which the importer does not
  // use.
  OneOperator& Output(DType dtype, const std::vector<int64_t>& dims = {},
                      Scale scale = {});
  template <typename Offset>
  OneOperator& Options(schema::BuiltinOptions kind, Offset options) {
    kind_ = kind;
    options_ = options.Union();
    return *this;
  }
  OneOperator& CustomOptions(std::vector<uint8_t> bytes) {
    custom_options_ = std::move(bytes);
    return *this;
  }
  flatbuffers::FlatBufferBuilder& fbb() { return model_.fbb(); }

  // Runs the operator. `state`, if there is any, comes after the inputs.
  StatusOr<std::vector<Numbers>> Run(std::vector<Numbers> state = {});

 private:
  tflite::ModelBuilder model_;
  schema::BuiltinOperator code_;
  std::string custom_;
  std::vector<int32_t> inputs_, outputs_;
  std::vector<Numbers> values_;
  schema::BuiltinOptions kind_ = schema::BuiltinOptions::NONE;
  flatbuffers::Offset<void> options_ = 0;
  std::vector<uint8_t> custom_options_;
  std::string file_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_TFLITE_ONE_OPERATOR_H_
