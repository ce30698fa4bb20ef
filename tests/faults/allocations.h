// Makes one allocation of a piece of code fail, or all from one on.
//
//   StartAllocationFaults({.fail = 17});
//   const Status status = session->Run(inputs, &results);
//   const AllocationCounts counts = StopAllocationFaults();
//   if (counts.failed == 0) ...               // it made fewer than 17
//
// A program that links this has another operator new and delete, its shared
// libraries included, and other malloc, calloc, realloc, aligned_alloc,
// posix_memalign and mmap in what is linked statically, which is all code of
// ours. What fails throws std::bad_alloc, or gives null (MAP_FAILED) and
// ENOMEM.
//
// Counts allocations of all threads; Start and Stop are for one thread.
#ifndef EMBER_TESTS_FAULTS_ALLOCATIONS_H_
#define EMBER_TESTS_FAULTS_ALLOCATIONS_H_

#include <cstddef>
#include <cstdint>

namespace ember::tests {

struct AllocationFaults {
  // The number of the allocation that fails, from 1; 0: none does.
  int64_t fail = 0;
  // All behind it fail, too: memory is gone and stays so.
  bool stays = false;
  // Smaller ones are not counted, and never fail.
  size_t least_bytes = 1;
  // Neither are those that operator new makes for a shared library whose path
  // holds this; null: there is no such library.
  const char* spared_library = nullptr;
};

struct AllocationCounts {
  int64_t seen = 0;
  int64_t failed = 0;
  size_t first_failed_bytes = 0;
};

void StartAllocationFaults(const AllocationFaults& faults);
AllocationCounts StopAllocationFaults();
// Since Start, for handlers of what a failure leads to.
AllocationCounts CurrentAllocationCounts();

}  // namespace ember::tests

#endif  // EMBER_TESTS_FAULTS_ALLOCATIONS_H_
