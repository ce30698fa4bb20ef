// Makes the tuning tasks of a model: one for each different dispatch, for one
// target.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<tune::Task> tasks,
//                          TasksOf(module, hal::HostTarget(), {}));
//   MergeTasks(std::move(tasks), all);     // of several models
//
// Dispatches whose parameters are not constant are tuned for the values that a
// run of the model with random inputs gives them: dims that the model leaves
// open have the sizes of the options, or 1.
#ifndef EMBER_TOOLS_LIB_TUNING_MODEL_TASKS_H_
#define EMBER_TOOLS_LIB_TUNING_MODEL_TASKS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/models/load_model.h"
#include "tune/task/task.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Returns the tasks. Equal dispatches become one task, with the sum of their
// calls. Errors: those of a run of the model.
StatusOr<std::vector<tune::Task>> TasksOf(
    const std::shared_ptr<const vm::Module>& module, const std::string& target,
    const std::vector<NamedShape>& shapes);

// Adds the tasks of another model to `all`. Equal tasks become one, with the
// sum of their calls.
void MergeTasks(std::vector<tune::Task> tasks, std::vector<tune::Task>& all);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_MODEL_TASKS_H_
