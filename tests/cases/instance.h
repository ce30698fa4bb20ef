// One subject of a file of cases and the sections that follow it, for one
// choice of what a template leaves open. Internal to the runner.
#ifndef EMBER_TESTS_CASES_INSTANCE_H_
#define EMBER_TESTS_CASES_INSTANCE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/cases/case_file.h"
#include "tests/cases/counts.h"
#include "tests/cases/executor.h"

namespace ember::cases {

struct Failure {
  std::string path;
  int line = 0;
  std::string message;
};

// What the definition computed for a section `run`, over all instances and
// calls of it.
struct RunResults {
  std::vector<std::string> lines;  // of the last call
  uint64_t hash = 0;               // of all of them
  int64_t elements = 0;
  int calls = 0;
  double tolerance = 0;
};

struct InstanceRequest {
  CaseFile& file;  // expectations are written to it where `bless`
  size_t begin;    // section of the subject
  size_t end;      // behind the last section
  const std::vector<Binding>& bindings;
  std::span<const Executor> table;                // all that there are
  const std::vector<const Executor*>& executors;  // those to run
  bool bless;
  Counts& counts;
  std::map<size_t, RunResults>& results;  // by number of the section
  std::vector<Failure>& failures;
};

// Adds to counts, results and failures.
void RunInstance(const InstanceRequest& request);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_INSTANCE_H_
