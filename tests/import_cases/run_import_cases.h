// Runs files of import cases (README.md): a format gives a function that makes
// a graph of a case, and its test is these lines:
//
//   int main(int argc, char** argv) {
//     return ember::tests::RunImportCases(argc, argv, "tests/onnx/cases",
//                                         ember::tests::ImportNode);
//   }
//
// Each case is a test of its own: --gtest_filter='*Squeeze*' runs those of one
// operator, '*/shapes/*' those of a file. A failure names file and line of the
// case. Operands that are given at run time are the graph's inputs, in order.
#ifndef EMBER_TESTS_IMPORT_CASES_RUN_IMPORT_CASES_H_
#define EMBER_TESTS_IMPORT_CASES_RUN_IMPORT_CASES_H_

#include <string>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "tests/import_cases/import_case.h"

namespace ember::tests {

// Makes a model file of one operator and imports it.
using CaseImporter = StatusOr<graph::Graph> (*)(const ImportCase& one);

// Registers and runs the cases of all .case files of `folder`. Returns the
// status of main().
int RunImportCases(int argc, char** argv, const std::string& folder,
                   CaseImporter importer);

}  // namespace ember::tests

#endif  // EMBER_TESTS_IMPORT_CASES_RUN_IMPORT_CASES_H_
