// Resolves the location of a file to which a model's file refers. The file must
// be in the model's folder.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const std::string path,
//       FileInside("models/bert", "weights.bin", "external data"));
//
// Caches of downloads keep all files in one folder, and their names are
// symbolic links into it. So a file is also accepted if it is in the folder
// that contains `model`, the model's own file, once links are resolved.
//
// Errors are one line. Refused are an absolute location, one with "..", a
// symbolic link to a place outside of these folders, and anything that is no
// plain file. A hard link is accepted, as it cannot be distinguished from the
// file's other names. Thread-safe.
#ifndef EMBER_FRONTENDS_FILE_INSIDE_H_
#define EMBER_FRONTENDS_FILE_INSIDE_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::frontends {

// folder: the model's folder; an empty one is an error, as the model then has
// no folder. what: names the file in messages. model: the path of the model's
// file; if it is empty, no other folder is accepted.
StatusOr<std::string> FileInside(const std::string& folder,
                                 const std::string& location,
                                 std::string_view what,
                                 const std::string& model = "");

// True if `inner`, with links followed, is the folder or lies below it.
bool IsFolderInside(const std::string& folder, const std::string& inner);

// Returns a name like "external data 'weights.bin'", for messages of code that
// reads the file.
std::string NameOfFile(const std::string& location, std::string_view what);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FILE_INSIDE_H_
