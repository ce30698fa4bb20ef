#include "tools/lib/tuning/task_folder.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "tune/fleet/messages.h"

namespace ember::tools {

StatusOr<size_t> WriteTaskFolder(std::span<const tune::Task> tasks,
                                 const std::string& folder) {
  size_t count = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const StatusOr<std::string> text = tune::WriteTask(tasks[i]);
    if (!text.ok()) continue;
    EMBER_RETURN_IF_ERROR(WriteFileAtomically(
        Concat({folder, "/", i, "-", static_cast<int64_t>(tasks[i].calls),
                ".task"}),
        *text));
    ++count;
  }
  return count;
}

StatusOr<std::vector<tune::Task>> ReadTaskFolder(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".task")
      names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  std::vector<tune::Task> tasks;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    StatusOr<tune::Task> task = tune::ReadTask(text);
    if (!task.ok()) return task.status().WithContext(path);
    int64_t calls = 0;
    const char* const begin = name.data() + name.find('-') + 1;
    std::from_chars(begin, name.data() + name.size(), calls);
    task->calls = static_cast<double>(std::max<int64_t>(calls, 1));
    tasks.push_back(*std::move(task));
  }
  if (!tasks.empty()) return tasks;
  return NotFoundError("expected files NUMBER-CALLS.task in '" + folder +
                       "', found none");
}

}  // namespace ember::tools
