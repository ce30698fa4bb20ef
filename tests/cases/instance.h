// Runs one subject of a file of cases and its sections, for one choice of a
// template's values. Internal to CaseChecker.
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

// The definition's results for one section `run`, over all instances of its
// template and all calls.
struct RunResults {
  // Results of the last call as lines of the file.
  std::vector<std::string> lines;
  uint64_t hash = 0;  // one hash of the results of all calls
  int64_t elements = 0;
  int calls = 0;
  double tolerance = 0;
};

struct InstanceRequest {
  // The file of the case. With `bless`, expectations are written to it.
  CaseFile& file;
  size_t begin;  // number in the file of the subject's first section
  size_t end;    // number of the first section after the subject's sections
  const std::vector<Binding>& bindings;
  std::span<const Executor> table;                // all executors
  const std::vector<const Executor*>& executors;  // executors to run
  bool bless;
  Counts& counts;
  // The definition's results for each section `run`, by the section's number.
  std::map<size_t, RunResults>& results;
  std::vector<Failure>& failures;
};

// Runs the instance. Adds to counts, results and failures of the request.
void RunInstance(const InstanceRequest& request);

}  // namespace ember::cases

#endif  // EMBER_TESTS_CASES_INSTANCE_H_
