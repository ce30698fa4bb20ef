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
  kIoError,      // EIO; close() nevertheless closes the file
  kNoSpace,      // ENOSPC, for calls that may need space
  kInterrupted,  // EINTR in the first attempt
  kShort,        // only one byte is read or written
  kLostRename,   // rename and link do nothing but report success
  // The process ends with kPowerLossStatus before the call. The disk then loses
  // data of each file that was written and not synchronised: the seed decides
  // if it has nothing, zeros, the first half, all but one block, or all.
  kPowerLoss,
};
inline constexpr int kFileFaultCount = 7;
inline constexpr int kPowerLossStatus = 70;

struct FileFaults {
  FileFault fault = FileFault::kNone;
  // Number of the call that fails, from 1, among those that the fault applies
  // to.
  int64_t number = 0;
  uint64_t seed = 0;
};

struct FileCallCounts {
  int64_t seen = 0;    // number of calls that the fault applies to
  std::string failed;  // name of the call in which the fault happened
};

void StartFileFaults(const FileFaults& faults);
FileCallCounts StopFileFaults();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_FILE_CALLS_H_
