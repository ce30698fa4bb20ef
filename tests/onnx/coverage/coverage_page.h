// What coverage_page.cc knows besides the page: element types are tried, not
// declared. A model of one node per operator and type (probe_models.h) is
// imported and compiled.
#ifndef EMBER_TESTS_ONNX_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_ONNX_COVERAGE_COVERAGE_PAGE_H_

#include <string>

#include "tests/coverage/coverage_page.h"

namespace ember::tests {

// One line per operator that no recipe fits, with what went wrong for f32: for
// whoever writes the recipe. `published_only`: of ONNX's own domains.
std::string UntriedOperators(bool published_only);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_COVERAGE_COVERAGE_PAGE_H_
