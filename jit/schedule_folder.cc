#include "jit/schedule_folder.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/concat.h"
#include "base/did_you_mean.h"
#include "base/file.h"
#include "jit/schedule/core/steps.h"

namespace ember::jit {
namespace {

constexpr std::string_view kExtension = ".schedule";
constexpr std::string_view kTiers[] = {".tier1", ".tier2"};

bool IsFile(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

StatusOr<std::vector<std::string>> ListSchedules(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()),
                                                    ::closedir);
  if (entries == nullptr) {
    return NotFoundError(
        Concat({"cannot open folder '", folder, "': ", std::strerror(errno)}));
  }
  std::vector<std::string> files;
  while (const dirent* const entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(kExtension)) files.emplace_back(name);
  }
  std::ranges::sort(files);
  return files;
}

// Returns an error for the first line that does not begin with the name of a
// primitive. Operands are not checked, because that needs the dispatch.
Status CheckPrimitives(std::string_view text) {
  std::vector<std::string_view> names;
  const std::vector<schedule::PrimitiveInfo> infos = schedule::Primitives();
  for (const schedule::PrimitiveInfo& info : infos) names.push_back(info.name);
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, std::min(line.find("//"), line.size()));
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    line.remove_prefix(first);
    const std::string_view word =
        line.substr(0, std::min(line.find_first_of(" \t\r"), line.size()));
    if (word == "}" || word == "schedule" ||
        std::ranges::find(names, word) != names.end())
      continue;
    return InvalidArgumentError(Concat(
        {"line ", number, ": expected a primitive (split, fuse, ...), found '",
         word, "'", DidYouMean(word, names)}));
  }
  return OkStatus();
}

std::string_view DispatchOfFile(std::string_view file) {
  file.remove_suffix(kExtension.size());
  for (const std::string_view tier : kTiers) {
    if (file.ends_with(tier)) file.remove_suffix(tier.size());
  }
  return file;
}

Status CheckFile(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return CheckPrimitives(text).WithContext(path);
}

}  // namespace

Status ScheduleFolder::Check(std::span<const std::string> dispatches,
                             bool has_others) const {
  if (folder_.empty()) return OkStatus();
  if (IsFile(folder_)) {
    if (dispatches.size() == 1 && !has_others) return CheckFile(folder_);
    const std::string what =
        has_others ? "several modules"
                   : Concat({"a module of ", dispatches.size(), " dispatches"});
    return InvalidArgumentError(
        Concat({folder_, ": expected a folder for ", what, ", found a file"}));
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                         ListSchedules(folder_));
  if (files.empty()) {
    return NotFoundError(Concat({"expected files NAME.schedule in folder '",
                                 folder_, "', found none"}));
  }
  const std::vector<std::string_view> names(dispatches.begin(),
                                            dispatches.end());
  for (const std::string& file : files) {
    const std::string path = Concat({folder_, "/", file});
    const std::string_view dispatch = DispatchOfFile(file);
    if (!has_others && std::ranges::find(names, dispatch) == names.end()) {
      return NotFoundError(Concat(
          {path, ": expected the name of a dispatch of the module, found '",
           dispatch, "'", DidYouMean(dispatch, names)}));
    }
    EMBER_RETURN_IF_ERROR(CheckFile(path));
  }
  return OkStatus();
}

GivenSchedule ScheduleFolder::Find(std::string_view dispatch, int tier) const {
  if (folder_.empty()) return {};
  if (IsFile(folder_)) {
    StatusOr<std::string> text = ReadFile(folder_);
    return {folder_, text.ok() ? *std::move(text) : ""};
  }
  const std::string base = Concat({folder_, "/", dispatch});
  for (const std::string& name : {Concat({base, ".tier", tier}), base}) {
    std::string file = Concat({name, kExtension});
    StatusOr<std::string> text = ReadFile(file);
    if (text.ok()) return {std::move(file), *std::move(text)};
  }
  return {};
}

}  // namespace ember::jit
