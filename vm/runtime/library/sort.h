// Divides long work of library functions into pieces, so that a run can be
// stopped between two pieces.
//
//   EMBER_RETURN_IF_ERROR(ForPieces(call, count, [&](int64_t begin, int64_t end) {
//     for (int64_t i = begin; i < end; ++i) ...
//   }));
//   EMBER_RETURN_IF_ERROR(Sort(call, order, less));
//
// Internal to library functions. Errors: the status of call.interrupt; Sort
// also returns an error if there is no memory.
#ifndef EMBER_VM_RUNTIME_LIBRARY_SORT_H_
#define EMBER_VM_RUNTIME_LIBRARY_SORT_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "base/interrupt.h"
#include "base/status.h"
#include "vm/runtime/library/library.h"
#include "vm/runtime/library/scratch.h"

namespace ember::vm {

// Number of elements that are processed or sorted between two checks of the
// interrupt. This work takes about a millisecond.
inline constexpr int64_t kAtOnce = 1 << 14;

// Returns the status of the interrupt; OK if it is null.
inline Status CheckInterrupt(const Interrupt* interrupt) {
  if (interrupt == nullptr || !interrupt->ShouldStop()) return OkStatus();
  return interrupt->status();
}

// Calls work(begin, end) for consecutive pieces of at most `at_once` of the
// numbers from 0 to count - 1. If an element is a row of many values, at_once
// should be smaller.
template <typename Work>
Status ForPieces(const LibraryCall& call, int64_t count, const Work& work,
                 int64_t at_once = kAtOnce) {
  for (int64_t begin = 0; begin < count; begin += at_once) {
    EMBER_RETURN_IF_ERROR(CheckInterrupt(call.interrupt));
    work(begin, std::min(begin + at_once, count));
  }
  return OkStatus();
}

// Merges the sorted ranges [first, middle) and [middle, last) into `to`.
template <typename Less>
Status Merge(const LibraryCall& call, const int64_t* first,
             const int64_t* middle, const int64_t* last, int64_t* to,
             const Less& less, int64_t at_once) {
  const int64_t* second = middle;
  const auto take = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const bool takes_second =
          first == middle || (second != last && less(*second, *first));
      *to++ = takes_second ? *second++ : *first++;
    }
  };
  return ForPieces(call, last - first, take, at_once);
}

// Sorts values like std::sort, in pieces of at_once (see ForPieces). No two
// values may be equivalent. If there is more than one piece, additional memory
// of the same size is needed.
template <typename Less>
Status Sort(const LibraryCall& call, std::span<int64_t> values,
            const Less& less, int64_t at_once = kAtOnce) {
  const auto count = static_cast<int64_t>(values.size());
  const auto sort_piece = [&](int64_t begin, int64_t end) {
    std::sort(values.begin() + begin, values.begin() + end, less);
  };
  EMBER_RETURN_IF_ERROR(ForPieces(call, count, sort_piece, at_once));
  if (count <= at_once) return OkStatus();
  Scratch<int64_t> other(call.pool);
  EMBER_RETURN_IF_ERROR(other.Resize(count));
  int64_t* from = values.data();
  int64_t* to = other.data();
  for (int64_t width = at_once; width < count; width *= 2) {
    for (int64_t first = 0; first < count; first += 2 * width) {
      const int64_t middle = std::min(first + width, count);
      const int64_t last = std::min(first + 2 * width, count);
      EMBER_RETURN_IF_ERROR(Merge(call, from + first, from + middle,
                                  from + last, to + first, less, at_once));
    }
    std::swap(from, to);
  }
  if (from == values.data()) return OkStatus();
  const auto copy = [&](int64_t begin, int64_t end) {
    std::copy(from + begin, from + end, values.begin() + begin);
  };
  return ForPieces(call, count, copy);
}

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_SORT_H_
