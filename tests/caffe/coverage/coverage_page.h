// The text of docs/caffe-coverage.md: every type of layer, and why those that
// are not there are not. From frontends/caffe/layer_table.h alone.
#ifndef EMBER_TESTS_CAFFE_COVERAGE_COVERAGE_PAGE_H_
#define EMBER_TESTS_CAFFE_COVERAGE_COVERAGE_PAGE_H_

#include <string>

namespace ember::tests {

std::string CaffeCoveragePage();

}  // namespace ember::tests

#endif  // EMBER_TESTS_CAFFE_COVERAGE_COVERAGE_PAGE_H_
