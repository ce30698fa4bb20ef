// The text of docs/tflite-coverage.md: every builtin operator of the format,
// how its quantized operands are computed, and why those that are not there are
// not. From frontends/tflite/operator_table.h alone.
#ifndef EMBER_TESTS_TFLITE_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_TFLITE_COVERAGE_COVERAGE_PAGE_H_

#include <string>

namespace ember::tests {

std::string TfliteCoveragePage();

}  // namespace ember::tests

#endif  // EMBER_TESTS_TFLITE_COVERAGE_COVERAGE_PAGE_H_
