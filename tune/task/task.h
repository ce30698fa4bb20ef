// A tuning task: one dispatch, for one target and one set of parameters, whose
// schedule is searched.
//
//   Task task = MakeTask(request);      // a site of a module, or a test's own
//   task.key;                           // equal for equal dispatches
//   BuildNest(task.request, {.given_schedule = text}, nullptr);
//
// Ownership: the request's owner keeps the dispatch and the constants alive.
// Thread-safe once made.
#ifndef EMBER_TUNE_TASK_TASK_H_
#define EMBER_TUNE_TASK_TASK_H_

#include <string>

#include "vm/runtime/kernel_provider.h"

namespace ember::tune {

struct Task {
  // The name of the dispatch in its module, for display.
  std::string name;
  // A hash of the dispatch's contents (jit/kernel/content_key.h), which
  // identifies the task.
  std::string key;
  // The request for a kernel, with the dispatch, parameters and target. Names
  // in its dispatch are canonical, so that a schedule of the task applies to
  // every dispatch with the same key.
  vm::KernelRequest request;
  // Number of calls of the dispatch in one run of the model, or in one run of
  // each model together.
  double calls = 1;
};

// Makes the task of a request. The request must have a target and values of all
// parameters.
Task MakeTask(const vm::KernelRequest& request);

}  // namespace ember::tune

#endif  // EMBER_TUNE_TASK_TASK_H_
