// Tries element types, which the operator table does not declare: a model of
// one node per operator and type (probe_models.h) is imported and compiled.
#ifndef EMBER_TESTS_ONNX_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_ONNX_COVERAGE_COVERAGE_PAGE_H_

#include <string>

#include "tests/coverage/coverage_page.h"

namespace ember::tests {

// Returns one line for each operator that no recipe fits, with the error for
// f32, to help with writing the recipe. `published_only`: only ONNX's own
// domains.
std::string UntriedOperators(bool published_only);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_COVERAGE_COVERAGE_PAGE_H_
