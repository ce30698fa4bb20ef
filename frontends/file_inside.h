// Resolves the location of a file to which a model's file refers. The file must
// be in the model's folder.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const std::string path,
//       FileInside("models/bert", "weights.bin", "external data"));
//
// Caches of downloads keep all files in one folder, and give names by links
// into it: `model`, the model's own file, then resolves into that folder, and
// a part that resolves into it, too, is within the model's.
//
// Errors, one line whatever the location is: an absolute one or one with "..",
// a file that a symbolic link leads out of the folders, something that is no
// plain file. A hard link is the file itself: where another name of it lies
// cannot be told. Thread-safe.
#ifndef EMBER_FRONTENDS_FILE_INSIDE_H_
#define EMBER_FRONTENDS_FILE_INSIDE_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::frontends {

// folder: of the model; empty: it has none, which is an error. what: the file,
// for messages. model: the path of the model's file; empty: it is no link.
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
