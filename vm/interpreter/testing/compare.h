// Differential tests: they compare plans with the definition of their dispatch.
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
      // largest allowed difference of floats, relative to the largest magnitude
      // among the neighbouring elements
      2e-5;
  int workers = 1;
  bool constant_inputs = false;  // True if all inputs are constants, so that
                                 // the plan packs operands once and keeps them.
  int64_t scratch_target = 512 * 1024;
  // Function that fills the bytes of an input. If it is not set, inputs are
  // random.
  std::function<void(int buffer, std::vector<char>& bytes)> fill;
};

// Runs the dispatch on random inputs, by its definition and (twice) by a plan.
// The first difference makes the test fail. Returns the text of Plan::Describe.
std::string ExpectMatchesDefinition(const tensor::Dispatch& dispatch,
                                    const CompareOptions& options = {});
std::string ExpectMatchesDefinition(std::string_view text,
                                    const CompareOptions& options = {});

// Runs a random dispatch (tensor/testing/random_dispatch.h) and compares its
// results with the definition. A failure prints the seed.
void ExpectRandomCase(uint64_t seed, int workers,
                      const tensor::RandomOptions& options,
                      const Interpreter& interpreter = StripInterpreter());

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_TESTING_COMPARE_H_
