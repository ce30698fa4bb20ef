// Evaluates formulas of expected results, in doubles and with the C++ library's
// functions: nothing of it is the code under test.
//
//   EvaluateFormula("x < 0 ? expm1(x) : x", {{"x", 2.0}})  // 2
//   EvaluateFormula("1/3", {})
//
// A formula has numbers, names, pi, e, inf, nan, true and false, the operators
// ?: < <= > >= == != + - * / and parentheses, and the functions of
// README.md. Errors are one line that quotes the formula. Plain functions,
// thread-safe.
#ifndef EMBER_TESTS_IMPORT_CASES_FORMULA_H_
#define EMBER_TESTS_IMPORT_CASES_FORMULA_H_

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::tests {

StatusOr<double> EvaluateFormula(std::string_view text,
                                 const std::map<std::string, double>& names);

}  // namespace ember::tests

#endif  // EMBER_TESTS_IMPORT_CASES_FORMULA_H_
