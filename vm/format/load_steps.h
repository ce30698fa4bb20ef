// Reports the steps of loading a module to a Progress. Each dispatch is read,
// then verified; each program is verified, then analysed. Constants are steps
// if their bytes are compared. Internal to loading.
//
//   LoadSteps steps(options.progress, total);
//   EMBER_RETURN_IF_ERROR(steps.Begin(program.name));   // before each step
//
// Not thread-safe. Errors: kCancelled once the Progress has requested to stop.
#ifndef EMBER_VM_FORMAT_LOAD_STEPS_H_
#define EMBER_VM_FORMAT_LOAD_STEPS_H_

#include <cstdint>
#include <string_view>

#include "base/progress.h"
#include "base/status.h"

namespace ember::vm {

class LoadSteps {
 public:
  // Makes a counter of steps for `progress`, which may be null. `total` is the
  // number of all steps, `done` the number of those that are finished already.
  LoadSteps(Progress* progress, int64_t total, int64_t done = 0)
      : progress_(progress), total_(total), done_(done) {}

  // Reports that a step begins; item is the name of the object that the step
  // reads or verifies. Call it before each step.
  Status Begin(std::string_view item);

 private:
  Progress* const progress_;
  const int64_t total_;
  int64_t done_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_LOAD_STEPS_H_
