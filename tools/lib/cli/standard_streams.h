// The file name "-": stdin where a tool reads a file, and stdout where it
// writes one.
//
//   EMBER_ASSIGN_OR_RETURN(const std::string path, StdinFile("MODEL"));
//   EMBER_ASSIGN_OR_RETURN(MappedFile model, MappedFile::Open(path));
//
//   EMBER_RETURN_IF_ERROR(CheckOutputFile("-o", "-"));   // takes stdout
//   …
//   EMBER_RETURN_IF_ERROR(WriteUserFile("-", bytes));
//
// A tool reads stdin once and keeps all of it. One input file and one output
// file may be "-"; a second one is an error that names both. A file that takes
// stdout gets it alone: everything else that the tool prints to stdout then
// goes to stderr. A tool whose child processes read stdin calls StdinFile
// before it forks. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_CLI_STANDARD_STREAMS_H_
#define EMBER_TOOLS_LIB_CLI_STANDARD_STREAMS_H_

#include <string>
#include <string_view>

#include "base/status.h"

namespace ember::tools {

inline constexpr std::string_view kStandardStream = "-";

// Returns the path of a regular file with all bytes of stdin. It exists until
// the process ends. `what` names the file for errors: "MODEL" or "--input".
// Errors: another file has taken stdin; stdin is a terminal; it cannot be read.
StatusOr<std::string> StdinFile(std::string_view what);

// Returns the path by which the system opens a file that a tool reads: the
// result of StdinFile if the user typed "-", else UserPath(path).
StatusOr<std::string> InputPath(std::string_view what, const std::string& path);

// Reserves stdout for the output file of `flag`. Errors: another flag has taken
// it; stdout is a terminal and the file is binary (is_text is false).
Status TakeStdout(std::string_view flag, bool is_text = false);

// Appends bytes to the file that is written to stdout. TakeStdout must have
// been called.
Status WriteTakenStdout(std::string_view bytes);

// Writes a file. The path is as the user typed it; "-" is stdout, which must
// have been taken.
Status WriteUserFile(const std::string& path, std::string_view contents);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_STANDARD_STREAMS_H_
