// docs/keras-coverage.md, made from the table.
#ifndef EMBER_TESTS_KERAS_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_KERAS_COVERAGE_COVERAGE_PAGE_H_

#include <string>

namespace ember::tests {

std::string KerasCoveragePage();

}  // namespace ember::tests

#endif  // EMBER_TESTS_KERAS_COVERAGE_COVERAGE_PAGE_H_
