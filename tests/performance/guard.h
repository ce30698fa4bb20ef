// Whether models are as fast as they were on this machine: `./dev bench
// --guard`. Speeds are beside a reference (measure.h), so that others on the
// machine hardly change them, and what seems slow is measured for longer.
//
//   EMBER_RETURN_IF_ERROR(Guard({.file = "speeds.txt", .version = "98a9943"}));
#ifndef EMBER_TESTS_PERFORMANCE_GUARD_H_
#define EMBER_TESTS_PERFORMANCE_GUARD_H_

#include <span>
#include <string>

#include "base/status.h"
#include "tests/performance/models.h"

namespace ember::tests {

struct GuardOptions {
  std::span<const GuardedModel> models = GuardedModels();
  // The baseline's (baseline.h). What it lacks is measured and added, and so is
  // everything where it is another machine's or not there yet.
  std::string file;
  bool records = false;  // all of the models anew
  std::string version;   // of what is measured; no spaces
};

// Prints a line for each model. Errors: a model is slower than it was
// (FailedPrecondition, with all of them), the file cannot be read or written,
// the build is not optimised.
Status Guard(const GuardOptions& options);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_GUARD_H_
