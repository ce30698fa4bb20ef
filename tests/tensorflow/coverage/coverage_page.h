// The text of docs/tensorflow-coverage.md: every operator that the table knows,
// and why those that are not there are not. From
// frontends/tensorflow/operator_table.h alone.
#ifndef EMBER_TESTS_TENSORFLOW_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_TENSORFLOW_COVERAGE_COVERAGE_PAGE_H_

#include <string>

namespace ember::tests {

std::string TensorflowCoveragePage();

}  // namespace ember::tests

#endif  // EMBER_TESTS_TENSORFLOW_COVERAGE_COVERAGE_PAGE_H_
