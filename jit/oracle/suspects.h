// Where two executors' results of a dispatch differ by more than rounding
// usually makes them: a quick look at all elements, which finds the few that
// are worth a slow one.
//
//   const Suspects suspects = FindSuspects(type, got, want, count, true);
//   for (const int64_t element : suspects.elements) ...
#ifndef EMBER_JIT_ORACLE_SUSPECTS_H_
#define EMBER_JIT_ORACLE_SUSPECTS_H_

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "base/interrupt.h"

namespace ember::jit {

struct Suspects {
  int64_t count = 0;
  double largest = 0;  // distance; infinite where one side is NaN or infinite
  // Of the elements that differ at all: the largest finite one that is wanted.
  double size = 0;
  // Some of them, the most suspicious first: from each part of the memory
  // those that are farthest apart, absolutely and for what they are.
  std::vector<int64_t> elements;
};

// By how much floats may differ without being suspicious, relative: some units
// in the last place. 0 for what is no float.
double UsualDifference(DType type);

// sums: results are sums, whose rounding errors are as large as those of sums
// around them, however much terms cancel. Two NaNs are equal. interrupt: where
// it says stop not all has been looked at; may be null.
Suspects FindSuspects(DType type, const void* got, const void* want,
                      int64_t count, bool sums,
                      const Interrupt* interrupt = nullptr);

}  // namespace ember::jit

#endif  // EMBER_JIT_ORACLE_SUSPECTS_H_
