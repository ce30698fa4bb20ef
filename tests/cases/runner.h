// Runs a file of cases: what each section expects is checked, and what is to be
// computed is computed by every executor (executor.h).
//
//   Runner runner(Executors(), {});
//   for (const Failure& failure : runner.RunFile(file)) …   // path:line: text
//   std::fputs(runner.counts().ToText().c_str(), stdout);
//
// Thread-compatible.
#ifndef EMBER_TESTS_CASES_RUNNER_H_
#define EMBER_TESTS_CASES_RUNNER_H_

#include <span>
#include <string>
#include <vector>

#include "tests/cases/case_file.h"
#include "tests/cases/counts.h"
#include "tests/cases/executor.h"
#include "tests/cases/instance.h"  // IWYU pragma: export

namespace ember::cases {

struct RunnerOptions {
  // Expectations are written anew, from what the definition computes and what
  // is said now; the others are still checked.
  bool bless = false;
  // Of executors; empty: all.
  std::vector<std::string> only;
};

class Runner {
 public:
  Runner(std::span<const Executor> executors, RunnerOptions options);

  // Empty: all is as expected. Changes the file where it blesses.
  std::vector<Failure> RunFile(CaseFile& file);

  const Counts& counts() const { return counts_; }

 private:
  const std::span<const Executor> table_;
  std::vector<const Executor*> executors_;
  RunnerOptions options_;
  Counts counts_;
};

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_RUNNER_H_
