// Runs one Caffe2 operator end to end: makes two nets, imports, compiles and
// executes them, with operands and results written as numbers.
//
//   OneCaffe2Operator op("LeakyRelu", Real("alpha", 0.5));
//   op.Input(F32({2}, {-2, 3}));
//   ExpectNumbers(op.Run(), {F32({2}, {-1, 3})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_CAFFE2_ONE_OPERATOR_H_
#define EMBER_TESTS_CAFFE2_ONE_OPERATOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

// These functions write arguments of an operator as text. Texts of several
// arguments are joined.
std::string Int(const std::string& name, int64_t value);
std::string Ints(const std::string& name, const std::vector<int64_t>& values);
std::string Real(const std::string& name, double value);
std::string Word(const std::string& name, const std::string& value);

// Imports, compiles and runs the model of a predict net and an init net.
// Returns all results.
StatusOr<std::vector<Numbers>> RunCaffe2(
    const std::string& predict_net, const std::string& init_net,
    const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

class OneCaffe2Operator {
 public:
  explicit OneCaffe2Operator(std::string type, std::string arguments = "")
      : type_(std::move(type)), arguments_(std::move(arguments)) {}

  // Adds the next operand, which is given at run time.
  OneCaffe2Operator& Input(Numbers value);
  // Adds the next operand, which the init net fills.
  OneCaffe2Operator& Constant(Numbers value);
  OneCaffe2Operator& Results(int count) {
    results_ = count;
    return *this;
  }
  // Makes the two nets of the operator and imports them. Operands that are
  // given at run time become the graph's inputs.
  StatusOr<graph::Graph> Import() const;
  StatusOr<std::vector<Numbers>> Run() const;

 private:
  std::string type_, arguments_;
  // The operands, as pairs of (true if it is a constant, value).
  std::vector<std::pair<bool, Numbers>> operands_;
  int results_ = 1;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_CAFFE2_ONE_OPERATOR_H_
