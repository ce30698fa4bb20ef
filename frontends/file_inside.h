// Where a model's file says that a part of it lies in another one: that file,
// if it is within the model's folder.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const std::string path,
//       FileInside("models/bert", "weights.bin", "external data"));
//
// Errors, one line whatever the location is: an absolute one or one with "..",
// a file that a symbolic link leads out of the folder, something that is no
// plain file. A hard link is the file itself: where another name of it lies
// cannot be told. Thread-safe.
#ifndef EMBER_FRONTENDS_FILE_INSIDE_H_
#define EMBER_FRONTENDS_FILE_INSIDE_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::frontends {

// folder: of the model; empty: it has none, which is an error. what: the file,
// for messages.
StatusOr<std::string> FileInside(const std::string& folder,
                                 const std::string& location,
                                 std::string_view what);

// "external data 'weights.bin'", for messages of whoever reads it.
std::string NameOfFile(const std::string& location, std::string_view what);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FILE_INSIDE_H_
