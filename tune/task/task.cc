#include "tune/task/task.h"

#include "jit/kernel/content_key.h"

namespace ember::tune {

Task MakeTask(const vm::KernelRequest& request) {
  Task task;
  task.name = request.dispatch->name;
  task.request = jit::WithCanonicalNames(request);
  task.request.tier = 2;
  task.request.interrupt = nullptr;
  task.key = jit::ContentKey(task.request);
  return task;
}

}  // namespace ember::tune
