// Writes and reads tuning tasks as files of a folder, named NUMBER-CALLS.task,
// whose texts are those of tune/fleet/messages.h. They are the dispatches of a
// session that tunes itself (serving/serving_tuner.h), or dispatches that a
// user tunes without their model.
//
//   EMBER_ASSIGN_OR_RETURN(size_t count, WriteTaskFolder(tasks, folder));
//   EMBER_ASSIGN_OR_RETURN(std::vector<tune::Task> same, ReadTaskFolder(folder));
//
// Errors name the file.
#ifndef EMBER_TOOLS_LIB_TUNING_TASK_FOLDER_H_
#define EMBER_TOOLS_LIB_TUNING_TASK_FOLDER_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tune/task/task.h"

namespace ember::tools {

// Writes the tasks to a folder that exists. A task whose text is too large for
// a message is left out. Returns the number of files.
StatusOr<size_t> WriteTaskFolder(std::span<const tune::Task> tasks,
                                 const std::string& folder);

// Reads all tasks of a folder. Errors: a file is no task; there is no file.
StatusOr<std::vector<tune::Task>> ReadTaskFolder(const std::string& folder);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_TASK_FOLDER_H_
