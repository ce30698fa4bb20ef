// Finds elements in which two executors' results of a dispatch differ by more
// than rounding usually explains. This quick comparison of all elements finds
// the few that are worth a slow computation.
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
  // Largest distance between the two results of a suspect; infinite if they
  // differ and one of them is NaN or infinite.
  double largest = 0;
  // Largest finite magnitude among the expected results of elements that
  // differ.
  double size = 0;
  // Indices of some suspects, most suspicious first. The buffer is divided into
  // equal parts; from each part come the element with the largest absolute and
  // the one with the largest relative distance.
  std::vector<int64_t> elements;
};

// Returns the relative difference that rounding usually explains for the type:
// some units in the last place. Returns 0 if the type is no float.
double UsualDifference(DType type);

// Compares all elements. sums: true if the results are sums; their rounding
// errors may be as large as those of neighbouring sums, however much the terms
// of one sum cancel. Two NaNs count as equal. interrupt: if it asks to stop,
// the remaining elements are not examined; may be null.
Suspects FindSuspects(DType type, const void* got, const void* want,
                      int64_t count, bool sums,
                      const Interrupt* interrupt = nullptr);

}  // namespace ember::jit

#endif  // EMBER_JIT_ORACLE_SUSPECTS_H_
