// Resolves the location of a file to which a model's file refers. The file must
// be in the model's folder.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const std::string path,
//       FileInside("models/bert", "weights.bin", "external data"));
//
// Errors, one line whatever the location contains: an absolute location or one
// with "..", a symbolic link that leads out of the folder, a file that is no
// plain file. A hard link cannot be distinguished from the file itself,
// wherever its other names are. Thread-safe.
#ifndef EMBER_FRONTENDS_FILE_INSIDE_H_
#define EMBER_FRONTENDS_FILE_INSIDE_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::frontends {

// `folder`: the model's folder; it is an error if it is empty. `what`: a name
// of the file for messages.
StatusOr<std::string> FileInside(const std::string& folder,
                                 const std::string& location,
                                 std::string_view what);

// Returns a name like "external data 'weights.bin'", for messages of code that
// reads the file.
std::string NameOfFile(const std::string& location, std::string_view what);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FILE_INSIDE_H_
