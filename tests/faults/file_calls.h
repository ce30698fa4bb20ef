// Makes one call on files fail, be interrupted, do less than it was asked, or
// be the last one before the system loses power.
//
//   StartFileFaults({.fault = FileFault::kShort, .number = 3});
//   const Status status = WriteFileAtomically(path, contents);
//   const FileCallCounts counts = StopFileFaults();
//
// In a program that links this library, statically linked code, which is all
// code of ours, calls open, read, write, rename and others (kCalls in
// file_calls.cc) through it. One thread.
#ifndef EMBER_TESTS_FAULTS_FILE_CALLS_H_
#define EMBER_TESTS_FAULTS_FILE_CALLS_H_

#include <cstdint>
#include <string>

namespace ember::tests {

enum class FileFault : uint8_t {
  kNone,
  kIoError,  // The call fails with EIO; close() nevertheless closes the file.
  kNoSpace,  // A call that may need space on the disk fails with ENOSPC.
  kInterrupted,  // The first attempt of the call fails with EINTR.
  kShort,        // The call reads or writes only one byte.
  kLostRename,   // Renaming or linking a file reports success but does nothing.
  // The process ends with kPowerLossStatus before the call. The disk then loses
  // data of each file that was written and not synchronised: the seed decides
  // if it has nothing, zeros, the first half, all but one block, or all.
  kPowerLoss,
};
inline constexpr int kFileFaultCount = 7;
inline constexpr int kPowerLossStatus = 70;

struct FileFaults {
  FileFault fault = FileFault::kNone;
  // Number, counted from 1, of the call that fails. Only calls to which the
  // fault applies are counted.
  int64_t number = 0;
  uint64_t seed = 0;
};

struct FileCallCounts {
  int64_t seen = 0;    // Number of calls to which the fault applied.
  std::string failed;  // name of the call in which the fault happened
};

void StartFileFaults(const FileFaults& faults);
FileCallCounts StopFileFaults();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_FILE_CALLS_H_
