// Deletes the temporary files of AtomicFileWriter (base/atomic_file_writer.h)
// when a signal ends a program.
//
//   void OnSignal(int signal) { RemoveTemporaryFiles(); … }
//
// A library leaves signals to its host, so only programs install such a handler
// (tools/lib/cli/end_by_signal.h). Thread-safe.
#ifndef EMBER_BASE_TEMPORARY_FILES_H_
#define EMBER_BASE_TEMPORARY_FILES_H_

#include <string>

namespace ember {

// Deletes the temporary files that writers of this process have not renamed
// yet, except for files that were not recorded, because their paths have 1024
// bytes or more or 16 files were recorded already. A signal handler may call
// it. The process must end afterwards, because active writers have lost their
// files.
void RemoveTemporaryFiles();

// True if AtomicFileWriter writes directly to `path`, because `path` exists and
// is no regular file (a device or a pipe), or is one of the system's links in
// /dev or /proc, such as /dev/stdout.
bool IsWrittenInPlace(const std::string& path);

}  // namespace ember

#endif  // EMBER_BASE_TEMPORARY_FILES_H_
