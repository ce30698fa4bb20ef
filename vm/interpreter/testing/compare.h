// Differential tests of plans against the definition of a dispatch.
//
//   ExpectMatchesDefinition(R"(dispatch @relu(%x: f32[8]) -> (%y: f32[8]) {
//     %y[i] = max(%x[i], 0.0)
//   })");
#ifndef EMBER_VM_INTERPRETER_TESTING_COMPARE_H_
#define EMBER_VM_INTERPRETER_TESTING_COMPARE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dispatch.h"
#include "tensor/testing/random_dispatch.h"
#include "vm/interpreter/plan.h"

namespace ember::vm {

struct CompareOptions {
  std::vector<int64_t> parameters;
  uint64_t seed = 1;
  double tolerance =
      // largest error of floats, relative to the largest magnitude near the
      // element
      2e-5;
  int workers = 1;
  bool constant_inputs =
      false;  // true: all inputs are constants, so operands are packed and kept
  int64_t scratch_target = 512 * 1024;
  // If set: fills the bytes of an input, in place of random values.
  std::function<void(int buffer, std::vector<char>& bytes)> fill;
};

// Runs the dispatch on random inputs by the definition and by the plan (twice);
// the first difference fails the test. Returns the text of Plan::Describe.
std::string ExpectMatchesDefinition(const tensor::Dispatch& dispatch,
                                    const CompareOptions& options = {});
std::string ExpectMatchesDefinition(std::string_view text,
                                    const CompareOptions& options = {});

// Compares a dispatch of tensor/testing/random_dispatch.h with the definition.
// Failures print the seed.
void ExpectRandomCase(uint64_t seed, int workers,
                      const tensor::RandomOptions& options,
                      const Interpreter& interpreter = StripInterpreter());

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_TESTING_COMPARE_H_
