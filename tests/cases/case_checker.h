// Runs a file of cases: checks the expectations of each section, and runs
// subjects on every executor (executor.h).
//
//   CaseChecker checker(Executors(), {});
//   for (const Failure& failure : checker.RunFile(file)) …   // path:line: text
//   std::fputs(checker.counts().ToText().c_str(), stdout);
//
// Thread-compatible.
#ifndef EMBER_TESTS_CASES_CASE_CHECKER_H_
#define EMBER_TESTS_CASES_CASE_CHECKER_H_

#include <span>
#include <string>
#include <vector>

#include "tests/cases/case_file.h"
#include "tests/cases/counts.h"
#include "tests/cases/executor.h"
#include "tests/cases/instance.h"  // IWYU pragma: export

namespace ember::cases {

struct CheckerOptions {
  // True to rewrite the texts and results that cases expect, from what was
  // found. All other expectations are still checked.
  bool bless = false;
  // Names of the executors to run; empty: all.
  std::vector<std::string> only;
};

class CaseChecker {
 public:
  CaseChecker(std::span<const Executor> executors, CheckerOptions options);

  // Runs a file. Returns no failures if all is as expected. Changes the file if
  // `bless` is set.
  std::vector<Failure> RunFile(CaseFile& file);

  const Counts& counts() const { return counts_; }

 private:
  const std::span<const Executor> table_;
  std::vector<const Executor*> executors_;
  CheckerOptions options_;
  Counts counts_;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_CASE_CHECKER_H_
