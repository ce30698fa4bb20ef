// Runs a file of cases: checks the expectations of each section, and runs
// subjects on every executor (executor.h).
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
  // True: texts and results in expectations are written anew from what is
  // found. Other expectations are still checked.
  bool bless = false;
  // Names of the executors to run; empty: all.
  std::vector<std::string> only;
};

class Runner {
 public:
  Runner(std::span<const Executor> executors, RunnerOptions options);

  // Runs a file. Returns no failures if all is as expected. Changes the file if
  // `bless` is set.
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
