// Finds the file of a model that is a folder.
//
//   FirstFileIn("model", {"saved_model.pb", "saved_model.pbtxt"})
//   // "model/saved_model.pb", or "" if the folder has neither
#ifndef EMBER_FRONTENDS_FOLDER_FILES_H_
#define EMBER_FRONTENDS_FOLDER_FILES_H_

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

namespace ember::frontends {

inline std::string FirstFileIn(const std::string& folder,
                               std::initializer_list<std::string_view> names) {
  std::error_code error;
  for (const std::string_view name : names) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(file, error)) return file.string();
  }
  return "";
}

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FOLDER_FILES_H_
