// Parses import cases: operators as texts, with operands, attributes and
// expected results (README.md has the language).
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<ImportCase> cases,
//                          ParseImportCases(text, "shapes.case"));
//   cases[0].op;  // "Squeeze"
//
// Plain values. Errors are one line with file and line:
// "shapes.case:3: unknown type 'f31'".
#ifndef EMBER_TESTS_IMPORT_CASES_IMPORT_CASE_H_
#define EMBER_TESTS_IMPORT_CASES_IMPORT_CASE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

// An operand or a result of a case. If it has strings, `numbers` holds only its
// dims.
struct CaseTensor {
  std::string name;  // name of the operand; "" for a result
  bool is_absent = false;
  bool is_constant = false;  // true if the operand is known at compile time
  bool is_strings = false;
  Numbers numbers;
  std::vector<std::string> strings;
  // One text for each dim: "" for a fixed dim; the name of an open dim, or "?"
  // if it has no name.
  std::vector<std::string> open;
};

using CaseValue = std::variant<int64_t, double, bool, DType, std::string,
                               std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>>;

struct ImportCase {
  std::string path;
  int line = 0;  // number of the line with "op:", counted from 1
  std::string op;
  std::map<std::string, std::string> settings;  // "opset" to "13"
  std::vector<CaseTensor> operands;
  std::vector<std::pair<std::string, CaseValue>> attributes;
  std::vector<CaseTensor> results;
  double within = 1e-5;
  // Part of the error message that the case expects; "" if it expects results.
  std::string error;
};

StatusOr<std::vector<ImportCase>> ParseImportCases(std::string_view text,
                                                   const std::string& path);

}  // namespace ember::tests

#endif  // EMBER_TESTS_IMPORT_CASES_IMPORT_CASE_H_
