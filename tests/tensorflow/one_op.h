// Runs one TensorFlow operator end to end: makes a GraphDef, imports, compiles
// and executes it, with operands and results written as numbers.
//
//   OneOp op("LeakyRelu");
//   op.Input(F32({2}, {1, -2})).Attribute(Float("alpha", 0.5));
//   ExpectNumbers(op.Run(), {F32({2}, {1, -1})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_TENSORFLOW_ONE_OP_H_
#define EMBER_TESTS_TENSORFLOW_ONE_OP_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/frontend.h"
#include "frontends/tensorflow/testing/graph_maker.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

inline Numbers Bool(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kBool, std::move(dims), std::move(values)};
}

tensorflow::DataType FileTypeOf(DType dtype);
tensorflow::NodeDef ConstNode(const std::string& name, const Numbers& value);

// Imports, compiles and runs a file. Returns all results, state last.
StatusOr<std::vector<Numbers>> RunBytes(
    const std::string& file, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});
StatusOr<std::vector<Numbers>> RunPath(
    const std::string& path, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

class OneOp {
 public:
  // Makes a graph of one operator. `results` is the number of its results that
  // are outputs.
  explicit OneOp(std::string op, int results = 1)
      : op_(std::move(op)), results_(results) {}

  // Adds the next operand, which is given at run time.
  OneOp& Input(Numbers value);
  // Adds the next operand, which is known at compile time.
  OneOp& Constant(const Numbers& value);
  OneOp& Attribute(const tensorflow::TestAttribute& attribute);

  StatusOr<std::vector<Numbers>> Run();

 private:
  std::string op_;
  int results_;
  tensorflow::GraphMaker graph_;
  std::vector<std::string> operands_;
  std::vector<tensorflow::TestAttribute> attributes_;
  std::vector<Numbers> values_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_TENSORFLOW_ONE_OP_H_
