// Checks that models are as fast as they were on this machine: `./dev bench
// --guard`. Speeds are relative to a reference (measure.h), so that other
// programs on the machine hardly change them. A model that seems slow is
// measured for longer.
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
  // Path of the baseline (baseline.h). Models that are missing in the file are
  // measured and added, and so are all models if the file is of another machine
  // or does not exist.
  std::string file;
  // True: measures all models again and records their speeds.
  bool records = false;
  // Version of Ember that is measured. It contains no spaces.
  std::string version;
};

// Prints a line for each model. Errors: a model is slower than it was
// (kFailedPrecondition, with all of them); the file cannot be read or written;
// the build is not optimised.
Status Guard(const GuardOptions& options);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_GUARD_H_
