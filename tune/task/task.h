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
  // The name of the dispatch in its module, for people.
  std::string name;
  // The key of the task's contents (jit/kernel/content_key.h).
  std::string key;
  // The request for the kernel. The names of its dispatch are canonical, so
  // that schedules of the task apply to every dispatch with the key.
  vm::KernelRequest request;
  // The number of calls in a run of the model, or of all models together.
  double calls = 1;
};

// Makes the task of a request, which has a target and the values of all
// parameters.
Task MakeTask(const vm::KernelRequest& request);

}  // namespace ember::tune

#endif  // EMBER_TUNE_TASK_TASK_H_
