// Makes one call on files fail, be interrupted, do less than it was asked, or
// be the last one before the system loses power.
//
//   StartFileFaults({.fault = FileFault::kShort, .number = 3});
//   const Status status = WriteFileAtomically(path, contents);
//   const FileCallCounts counts = StopFileFaults();
//
// A program that links this calls open, read, write, rename and others (kCalls
// in file_calls.cc) through it in what is linked statically, which is all code
// of ours. One thread.
#ifndef EMBER_TESTS_FAULTS_FILE_CALLS_H_
#define EMBER_TESTS_FAULTS_FILE_CALLS_H_

#include <cstdint>
#include <string>

namespace ember::tests {

enum class FileFault : uint8_t {
  kNone,
  kIoError,      // EIO; what is closed is closed all the same
  kNoSpace,      // ENOSPC, of calls that may need some
  kInterrupted,  // EINTR, once
  kShort,        // one byte is read or written
  kLostRename,   // rename and link do nothing, and say nothing
  // The process ends with kPowerLossStatus before the call. Of files that were
  // written and not synchronised, what is on the disk is then, by the seed:
  // nothing, zeros, the first half, all but one block, or all.
  kPowerLoss,
};
inline constexpr int kFileFaultCount = 7;
inline constexpr int kPowerLossStatus = 70;

struct FileFaults {
  FileFault fault = FileFault::kNone;
  int64_t number = 0;  // of the call, from 1, among those that it applies to
  uint64_t seed = 0;
};

struct FileCallCounts {
  int64_t seen = 0;    // calls that the fault applies to
  std::string failed;  // the name of the one that it was applied to
};

void StartFileFaults(const FileFaults& faults);
FileCallCounts StopFileFaults();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_FILE_CALLS_H_
