// The text of a format's page in docs/, which says what of the format is
// supported, and why the rest is not. Made from the tables of the frontend, in
// tests/FORMAT/coverage, of which a program links one.
#ifndef EMBER_TESTS_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_COVERAGE_COVERAGE_PAGE_H_

#include <string>

namespace ember::tests {

std::string CoveragePage();

}  // namespace ember::tests

#endif  // EMBER_TESTS_COVERAGE_COVERAGE_PAGE_H_
