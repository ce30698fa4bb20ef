// Runs one MXNet operator end to end: makes a symbol and parameters, imports,
// compiles and executes them, with operands and results written as numbers.
//
//   OneOperator op("LeakyReLU", {{"slope", "0.5"}});
//   op.Input(F32({2}, {-2, 3}));
//   ExpectNumbers(op.Run(), {F32({2}, {-1, 3})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_MXNET_ONE_OPERATOR_H_
#define EMBER_TESTS_MXNET_ONE_OPERATOR_H_

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

// Imports, compiles and runs a model. Returns all results.
StatusOr<std::vector<Numbers>> RunMxnet(
    const std::string& symbol, const std::string& params,
    const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

class OneMxnetOperator {
 public:
  explicit OneMxnetOperator(
      std::string op,
      std::vector<std::pair<std::string, std::string>> attributes = {})
      : op_(std::move(op)), attributes_(std::move(attributes)) {}

  // Adds the next operand, which is given at run time.
  OneMxnetOperator& Input(Numbers value);
  // Adds the next operand, which is one of the parameters.
  OneMxnetOperator& Constant(Numbers value);
  OneMxnetOperator& Results(int count) {
    results_ = count;
    return *this;
  }
  // Makes the model and imports it. Its inputs are the operands that are given
  // at run time.
  StatusOr<graph::Graph> Import() const;
  StatusOr<std::vector<Numbers>> Run() const;

 private:
  std::string op_;
  std::vector<std::pair<std::string, std::string>> attributes_;
  // The operands, as pairs of (true if it is one of the parameters, value).
  std::vector<std::pair<bool, Numbers>> operands_;
  int results_ = 1;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_MXNET_ONE_OPERATOR_H_
