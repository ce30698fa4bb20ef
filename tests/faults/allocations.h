// Makes one allocation of a piece of code fail, or all from one on.
//
//   StartAllocationFaults({.fail = 17});
//   const Status status = session->Run(inputs, &results);
//   const AllocationCounts counts = StopAllocationFaults();
//   if (counts.failed == 0) ...               // it made fewer than 17
//
// A program that links this library has other versions of operator new and
// delete, also in its shared libraries, and of malloc, calloc, realloc,
// aligned_alloc, posix_memalign and mmap in statically linked code, which is
// all code of ours. A failing allocation throws std::bad_alloc, or returns null
// (MAP_FAILED) and sets ENOMEM.
//
// Counts allocations of all threads. Start and Stop are for one thread.
#ifndef EMBER_TESTS_FAULTS_ALLOCATIONS_H_
#define EMBER_TESTS_FAULTS_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>

namespace ember::tests {

struct AllocationFaults {
  // Number of the allocation that fails, counted from 1; 0 means that none
  // fails.
  int64_t fail = 0;
  // True: all later allocations fail, too, as if memory stays exhausted.
  bool stays = false;
  // Smallest number of bytes of an allocation that counts. Smaller ones never
  // fail.
  size_t least_bytes = 1;
  // Allocations by operator new for a shared library whose path contains this
  // text are not counted and never fail, either. Null: there is no such
  // library.
  const char* spared_library = nullptr;
};

struct AllocationCounts {
  int64_t seen = 0;
  int64_t failed = 0;
  size_t first_failed_bytes = 0;
};

void StartAllocationFaults(const AllocationFaults& faults);
AllocationCounts StopAllocationFaults();
// Returns the counts since Start, for handlers that run after a failure.
AllocationCounts CurrentAllocationCounts();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_ALLOCATIONS_H_
