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
// A tool reads stdin once and keeps all of it. One file may be "-" for each of
// the two; a second one is an error that names both. When stdout is taken,
// everything that the tool prints to stdout goes to stderr, so that the file is
// whole. A tool whose child processes read stdin calls StdinFile before it
// forks. Not thread-safe.
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

// Returns the path for the system of a file that a tool reads: that of
// StdinFile for "-", and UserPath otherwise.
StatusOr<std::string> InputPath(std::string_view what, const std::string& path);

// Takes stdout for the file of a flag. Errors: another flag has taken it; it is
// a terminal, which would show bytes that are no text, unless is_text.
Status TakeStdout(std::string_view flag, bool is_text = false);

// Writes to stdout, which must have been taken, a part of the file.
Status WriteTakenStdout(std::string_view bytes);

// Writes a file whose path is as the user typed it: "-" is the taken stdout.
Status WriteUserFile(const std::string& path, std::string_view contents);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_STANDARD_STREAMS_H_
