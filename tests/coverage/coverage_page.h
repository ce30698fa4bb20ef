// Returns the text of a format's page in docs/, which lists the supported parts
// of the format, and why the others are not supported. It is made from the
// frontend's tables by tests/FORMAT/coverage; a program links one of these.
#ifndef EMBER_TESTS_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_COVERAGE_COVERAGE_PAGE_H_

#include <string>

namespace ember::tests {

std::string CoveragePage();

}  // namespace ember::tests

#endif  // EMBER_TESTS_COVERAGE_COVERAGE_PAGE_H_
