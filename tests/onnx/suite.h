// Lists a folder of ONNX backend tests: cases are folders with model.onnx and
// test_data_set_*/.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<TestCase> cases,
//                          FindCases("onnx-conformance", "*conv*"));
//   EMBER_RETURN_IF_ERROR(ApplyManifest("manifest.json", cases));
#ifndef EMBER_TESTS_ONNX_SUITE_H_
#define EMBER_TESTS_ONNX_SUITE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/tensors/compare.h"

namespace ember::tests {

struct TestCase {
  // Path of the case's folder, relative to the suite's folder.
  std::string name;
  std::string folder;
  tools::Tolerance tolerance{.rtol = 1e-3, .atol = 1e-7};
  // False if the model's results are random; then only their types and shapes
  // are compared.
  bool check_values = true;
  // The operators of the model (domain::Name outside the default domain), if a
  // manifest lists them.
  std::vector<std::string> operators;

  std::string model() const { return folder + "/model.onnx"; }
};

// Returns the cases below `suite` whose name matches the glob ("" for all; '*'
// crosses folders), sorted by name.
StatusOr<std::vector<TestCase>> FindCases(const std::string& suite,
                                          const std::string& filter);

// Returns the data sets of a case, sorted by name.
StatusOr<std::vector<std::string>> FindDataSets(const TestCase& test_case);

// Sets tolerances and flags of the cases from the corpus' manifest. A row of
// the manifest applies to a case whose path ends with the row's path.
Status ApplyManifest(const std::string& path, std::vector<TestCase>& cases);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_SUITE_H_
