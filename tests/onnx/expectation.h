// The expected outcome of a suite of ONNX cases: a text file in the repository.
// Its differences from a run show a case that stops passing, a case that begins
// to pass, and a dispatch that loses its kernel.
//
//   # A comment.
//   cases 1412
//   fails node/test_gradient_of_add unsupported
//   interprets node/test_top_k
//
// `cases` is the number of cases in the suite. `fails` names a case that does
// not pass and the step at which it stops. `interprets` names a case that
// passes although the interpreter runs at least one of its dispatches when
// kernels were asked for; it is only compared if kernels were asked for.
#ifndef EMBER_TESTS_ONNX_EXPECTATION_H_
#define EMBER_TESTS_ONNX_EXPECTATION_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::tests {

struct Expectation {
  int64_t cases = 0;
  // For each case that fails: the name of the step at which it stops.
  std::map<std::string, std::string> failures;
  std::set<std::string> interpreted;
};

// Reads an expectation. Errors name the line that cannot be read.
StatusOr<Expectation> ParseExpectation(std::string_view text);

// Prints the text that ParseExpectation reads, with `comment` (one line) on
// top.
std::string PrintExpectation(const Expectation& expectation,
                             std::string_view comment);

// Returns one line for each difference; empty if there is none. `with_kernels`:
// the run asked for kernels, so `interpreted` is compared, too.
std::vector<std::string> Differences(const Expectation& expected,
                                     const Expectation& found,
                                     bool with_kernels);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_EXPECTATION_H_
