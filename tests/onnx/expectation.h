// What a run of a suite of ONNX cases is expected to give: a text file that is
// kept in the repository, so that a case that stops passing, a case that begins
// to pass and a dispatch that loses its kernel are all differences.
//
//   # A comment.
//   cases 1412
//   fails node/test_gradient_of_add unsupported
//   interprets node/test_top_k
//
// `cases` is how many cases the suite has, `fails` names one that does not pass
// and the stage at which it stops, `interprets` one that passes and of whose
// dispatches the interpreter runs at least one although kernels were asked for.
// Whether a case interprets is only compared where kernels were asked for.
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
  std::map<std::string, std::string> failures;  // case -> name of the stage
  std::set<std::string> interpreted;
};

// Fails with the number of the line that cannot be read.
StatusOr<Expectation> ParseExpectation(std::string_view text);

// What ParseExpectation reads back, under `comment` (one line).
std::string PrintExpectation(const Expectation& expectation,
                             std::string_view comment);

// One line for each difference, empty if there is none. `with_kernels`: the run
// asked for kernels, so that `interpreted` is compared, too.
std::vector<std::string> Differences(const Expectation& expected,
                                     const Expectation& found,
                                     bool with_kernels);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_EXPECTATION_H_
