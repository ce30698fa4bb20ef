// The steps of loading a module, as whoever waits for it is told: each dispatch
// is read, then verified, each program is verified, then analysed; constants
// are steps where their bytes are compared. Internal to loading.
//
//   LoadSteps steps(options.progress, total);
//   EMBER_RETURN_IF_ERROR(steps.Begin(program.name));   // before each step
//
// Not thread-safe. Errors: kCancelled once the Progress said so.
#ifndef EMBER_VM_FORMAT_LOAD_STEPS_H_
#define EMBER_VM_FORMAT_LOAD_STEPS_H_

#include <cstdint>
#include <string_view>

#include "base/progress.h"
#include "base/status.h"

namespace ember::vm {

class LoadSteps {
 public:
  // progress: null if nobody wants to know. done: steps that are over.
  LoadSteps(Progress* progress, int64_t total, int64_t done = 0)
      : progress_(progress), total_(total), done_(done) {}

  // Before each step; item is what it is about.
  Status Begin(std::string_view item);

 private:
  Progress* const progress_;
  const int64_t total_;
  int64_t done_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_LOAD_STEPS_H_
