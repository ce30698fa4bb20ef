#include "vm/runtime/library/library.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>

#include "base/checked_math.h"
#include "base/concat.h"
#include "base/dtype.h"
#include "tensor/scalar.h"
#include "vm/runtime/library/arguments.h"
#include "vm/runtime/library/scratch.h"
#include "vm/runtime/library/sort.h"
#include "vm/runtime/string_support.h"

namespace ember::vm {
namespace {

// ---- order ----

// Returns an unsigned number for an element, such that these numbers have the
// same order as the elements' values. It works for all types: a NaN is above
// all other values, and -0 equals 0.
uint64_t OrderKey(const uint8_t* data, int64_t index, DType type) {
  constexpr uint64_t kSignBit = uint64_t{1} << 63;
  const uint64_t bits = tensor::LoadElement(data, index, type);
  if (type == DType::kU64 || type == DType::kBool) return bits;
  if (!IsFloat(type))
    return static_cast<uint64_t>(tensor::BitsToInteger(bits, type)) ^ kSignBit;
  double value = tensor::BitsToDouble(bits, type);
  if (std::isnan(value)) return UINT64_MAX;
  if (value == 0) value = 0;  // -0 becomes 0
  uint64_t pattern;
  std::memcpy(&pattern, &value, sizeof(pattern));
  return (pattern & kSignBit) != 0 ? ~pattern : pattern ^ kSignBit;
}

// Writes 0, 1, 2, … to values.
Status Enumerate(const LibraryCall& call, std::span<int64_t> values) {
  const auto fill = [&](int64_t begin, int64_t end) {
    std::iota(values.begin() + begin, values.begin() + end, begin);
  };
  return ForPieces(call, static_cast<int64_t>(values.size()), fill);
}

// Writes the k smallest of the numbers 0, 1, …, n - 1 (in the order `less`),
// sorted, to the first k elements of `order`, which has n elements.
template <typename Less>
Status SelectLeast(const LibraryCall& call, std::span<int64_t> order, int64_t k,
                   const Less& less) {
  const auto n = static_cast<int64_t>(order.size());
  if (k > kAtOnce / 2) {
    EMBER_RETURN_IF_ERROR(Enumerate(call, order));
    return Sort(call, order, less);
  }
  // The first `kept` elements of `order` are the smallest numbers so far. New
  // candidates are written behind them, and the smallest of all are selected
  // again.
  int64_t kept = 0;
  for (int64_t next = 0; next < n;) {
    EMBER_RETURN_IF_ERROR(CheckInterrupt(call.interrupt));
    const int64_t size = std::min(kAtOnce, kept + n - next);
    std::iota(order.begin() + kept, order.begin() + size, next);
    next += size - kept;
    kept = std::min(k, size);
    std::partial_sort(order.begin(), order.begin() + kept, order.begin() + size,
                      less);
  }
  return OkStatus();
}

// Compares two positions by their keys, and by their numbers if the keys are
// equal. It is a named type, so that the sort is instantiated only once.
struct KeyOrder {
  const uint64_t* keys;
  bool operator()(int64_t a, int64_t b) const {
    return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
  }
};

int64_t* Integers(uint8_t* data) { return reinterpret_cast<int64_t*>(data); }

void CopyElement(uint8_t* to, int64_t to_index, const uint8_t* from,
                 int64_t from_index, size_t size) {
  std::memcpy(to + static_cast<size_t>(to_index) * size,
              from + static_cast<size_t>(from_index) * size, size);
}

// ---- the library functions ----

Status TopK(const LibraryCall& call) {
  EMBER_ASSIGN_OR_RETURN(const DType type, ReadType(call.integers[0]));
  const int64_t outer = call.integers[1], n = call.integers[2],
                inner = call.integers[3];
  const int64_t k = call.integers[4];
  const bool largest = call.integers[5] != 0;
  const int64_t size = DTypeByteSize(type);
  EMBER_RETURN_IF_ERROR(Expect(k >= 0 && k <= n, "k in [0, n]", k));
  EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({outer, n, inner}));
  EMBER_ASSIGN_OR_RETURN(const int64_t kept, Product({outer, k, inner}));
  EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, size, "x"));
  EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[1], kept, size, "values"));
  EMBER_RETURN_IF_ERROR(
      ExpectBytes(call.memory[2], kept, sizeof(int64_t), "indices"));
  if (kept == 0) return OkStatus();
  const uint8_t* x = call.memory[0].data;
  Scratch<uint64_t> keys(call.pool);
  Scratch<int64_t> order(call.pool);
  EMBER_RETURN_IF_ERROR(keys.Resize(n));
  EMBER_RETURN_IF_ERROR(order.Resize(n));
  for (int64_t row = 0; row < outer * inner; ++row) {
    const int64_t first = row / inner * n * inner + row % inner;
    EMBER_RETURN_IF_ERROR(ForPieces(call, n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint64_t key = OrderKey(x, first + i * inner, type);
        keys[i] = largest ? ~key : key;
      }
    }));
    EMBER_RETURN_IF_ERROR(SelectLeast(call, {order.begin(), order.end()}, k,
                                      KeyOrder{keys.data()}));
    for (int64_t i = 0; i < k; ++i) {
      const int64_t to = row / inner * k * inner + i * inner + row % inner;
      CopyElement(call.memory[1].data, to, x, first + order[i] * inner,
                  static_cast<size_t>(size));
      Integers(call.memory[2].data)[to] = order[i];
    }
  }
  return OkStatus();
}

bool IsZero(const uint8_t* data, int64_t index, DType type) {
  const uint64_t bits = tensor::LoadElement(data, index, type);
  return IsFloat(type) ? tensor::BitsToDouble(bits, type) == 0 : bits == 0;
}

Status NonZero(const LibraryCall& call) {
  EMBER_ASSIGN_OR_RETURN(const DType type, ReadType(call.integers[0]));
  EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[1]}));
  EMBER_RETURN_IF_ERROR(
      ExpectBytes(call.memory[0], count, DTypeByteSize(type), "x"));
  const uint8_t* x = call.memory[0].data;
  int64_t found = 0;
  EMBER_RETURN_IF_ERROR(ForPieces(call, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) found += !IsZero(x, i, type);
  }));
  EMBER_ASSIGN_OR_RETURN(
      uint8_t* positions,
      AllocateBytes(call, call.allocated[0], found, sizeof(int64_t)));
  int64_t next = 0;
  // The loop ends when `found` positions are written, because another thread
  // may change the memory of x after the elements were counted.
  EMBER_RETURN_IF_ERROR(ForPieces(call, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && next < found; ++i) {
      if (!IsZero(x, i, type)) Integers(positions)[next++] = i;
    }
  }));
  call.written_integers[0] = found;
  return OkStatus();
}

// One of the different values that occur in the operand of Unique.
struct DistinctValue {
  int64_t first;  // lowest position of the value
  int64_t count;
  int64_t rank;  // position of the value in the function's result
};

Status Unique(const LibraryCall& call) {
  EMBER_ASSIGN_OR_RETURN(const DType type, ReadType(call.integers[0]));
  EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[1]}));
  const int64_t width = call.integers[2];
  const bool sorted = call.integers[3] != 0;
  const int64_t size = DTypeByteSize(type);
  EMBER_ASSIGN_OR_RETURN(const int64_t elements, Product({count, width}));
  EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], elements, size, "x"));
  const uint8_t* x = call.memory[0].data;
  Scratch<uint64_t> keys(call.pool);
  Scratch<int64_t> order(call.pool), value_of(call.pool), by_rank(call.pool);
  Scratch<DistinctValue> distinct(call.pool);
  EMBER_RETURN_IF_ERROR(keys.Resize(elements));
  EMBER_RETURN_IF_ERROR(order.Resize(count));
  EMBER_RETURN_IF_ERROR(value_of.Resize(count));
  EMBER_RETURN_IF_ERROR(
      ForPieces(call, elements, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) keys[i] = OrderKey(x, i, type);
      }));
  EMBER_RETURN_IF_ERROR(Enumerate(call, {order.begin(), order.end()}));
  // Compares two rows. The result is negative, 0 or positive if row a is
  // before, equal to or after row b.
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < width; ++i) {
      const uint64_t left = keys[a * width + i];
      const uint64_t right = keys[b * width + i];
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  };
  // Number of rows for one piece of work between two checks of the interrupt;
  // the rows have about kAtOnce elements.
  const int64_t rows_at_once =
      std::max<int64_t>(1, kAtOnce / std::max<int64_t>(1, width));
  const auto precedes = [&](int64_t a, int64_t b) {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a < b;
  };
  EMBER_RETURN_IF_ERROR(
      Sort(call, {order.begin(), order.end()}, precedes, rows_at_once));
  for (int64_t position = 0; position < count; ++position) {
    if (position % rows_at_once == 0)
      EMBER_RETURN_IF_ERROR(CheckInterrupt(call.interrupt));
    const int64_t row = order[position];
    if (distinct.size() == 0 ||
        compare(distinct[distinct.size() - 1].first, row) != 0) {
      EMBER_RETURN_IF_ERROR(distinct.Add({row, 0, 0}));
    }
    ++distinct[distinct.size() - 1].count;
    value_of[row] = distinct.size() - 1;
  }
  const int64_t found = distinct.size();
  EMBER_RETURN_IF_ERROR(by_rank.Resize(found));
  EMBER_RETURN_IF_ERROR(Enumerate(call, {by_rank.begin(), by_rank.end()}));
  if (!sorted) {
    EMBER_RETURN_IF_ERROR(keys.Resize(found));
    EMBER_RETURN_IF_ERROR(
        ForPieces(call, found, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            keys[i] = static_cast<uint64_t>(distinct[i].first);
        }));
    EMBER_RETURN_IF_ERROR(
        Sort(call, {by_rank.begin(), by_rank.end()}, KeyOrder{keys.data()}));
  }
  EMBER_ASSIGN_OR_RETURN(uint8_t* values, AllocateBytes(call, call.allocated[0],
                                                        found * width, size));
  EMBER_ASSIGN_OR_RETURN(uint8_t* firsts,
                         AllocateBytes(call, call.allocated[1], found, 8));
  EMBER_ASSIGN_OR_RETURN(uint8_t* inverse,
                         AllocateBytes(call, call.allocated[2], count, 8));
  EMBER_ASSIGN_OR_RETURN(uint8_t* counts,
                         AllocateBytes(call, call.allocated[3], found, 8));
  const auto write_distinct = [&](int64_t begin, int64_t end) {
    for (int64_t rank = begin; rank < end; ++rank) {
      DistinctValue& value = distinct[by_rank[rank]];
      value.rank = rank;
      CopyElement(values, rank, x, value.first,
                  static_cast<size_t>(width * size));
      Integers(firsts)[rank] = value.first;
      Integers(counts)[rank] = value.count;
    }
  };
  EMBER_RETURN_IF_ERROR(ForPieces(call, found, write_distinct, rows_at_once));
  EMBER_RETURN_IF_ERROR(ForPieces(call, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      Integers(inverse)[i] = distinct[value_of[i]].rank;
  }));
  call.written_integers[0] = found;
  return OkStatus();
}

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

// Reads a box from four numbers: center and size if `centered`, otherwise two
// opposite corners in any order.
Box ReadBox(const float* raw, bool centered) {
  if (centered) {
    return {raw[1] - raw[3] / 2, raw[0] - raw[2] / 2, raw[1] + raw[3] / 2,
            raw[0] + raw[2] / 2};
  }
  return {std::min(raw[0], raw[2]), std::min(raw[1], raw[3]),
          std::max(raw[0], raw[2]), std::max(raw[1], raw[3])};
}

bool Overlaps(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0) return false;
  const float intersection = height * width;
  return intersection / (a.area() + b.area() - intersection) > threshold;
}

// Working memory for non-maximum suppression of the boxes of one class in one
// image.
struct NonMaxWork {
  Scratch<Box> boxes;
  Scratch<uint64_t> keys;  // for each box, a key that orders it by score, the
                           // best one first
  Scratch<int64_t> candidates;
  Scratch<int64_t> kept;
};

// Selects at most `most` boxes of one class into work.kept, the best one (by
// score) first. Boxes whose score is not above thresholds[1] are left out, and
// so are boxes that overlap a selected one more than thresholds[0].
Status Suppress(const LibraryCall& call, NonMaxWork& work, const float* scores,
                int64_t most, const float* thresholds) {
  work.candidates.Clear();
  work.kept.Clear();
  for (int64_t i = 0; i < work.boxes.size(); ++i) {
    if (i % kAtOnce == 0) EMBER_RETURN_IF_ERROR(CheckInterrupt(call.interrupt));
    if (!(scores[i] > thresholds[1])) continue;
    EMBER_RETURN_IF_ERROR(work.candidates.Add(i));
    work.keys[i] =
        ~OrderKey(reinterpret_cast<const uint8_t*>(scores), i, DType::kF32);
  }
  EMBER_RETURN_IF_ERROR(Sort(call,
                             {work.candidates.begin(), work.candidates.end()},
                             KeyOrder{work.keys.data()}));
  int64_t looked_at = 0;
  for (int64_t candidate : work.candidates) {
    if (work.kept.size() >= most) break;
    looked_at += work.kept.size() + 1;
    if (looked_at >= kAtOnce) {
      EMBER_RETURN_IF_ERROR(CheckInterrupt(call.interrupt));
      looked_at = 0;
    }
    const bool suppressed =
        std::any_of(work.kept.begin(), work.kept.end(), [&](int64_t other) {
          return Overlaps(work.boxes[candidate], work.boxes[other],
                          thresholds[0]);
        });
    if (!suppressed) EMBER_RETURN_IF_ERROR(work.kept.Add(candidate));
  }
  return OkStatus();
}

Status NonMaxSuppression(const LibraryCall& call) {
  const int64_t batches = call.integers[0], classes = call.integers[1],
                count = call.integers[2];
  const int64_t most = call.integers[3];
  EMBER_ASSIGN_OR_RETURN(const int64_t corners, Product({batches, count, 4}));
  EMBER_ASSIGN_OR_RETURN(const int64_t score_count,
                         Product({batches, classes, count}));
  EMBER_RETURN_IF_ERROR(
      ExpectBytes(call.memory[0], corners, sizeof(float), "boxes"));
  EMBER_RETURN_IF_ERROR(
      ExpectBytes(call.memory[1], score_count, sizeof(float), "scores"));
  EMBER_RETURN_IF_ERROR(
      ExpectBytes(call.memory[2], 2, sizeof(float), "thresholds"));
  const float* raw_boxes = reinterpret_cast<const float*>(call.memory[0].data);
  const float* scores = reinterpret_cast<const float*>(call.memory[1].data);
  const float* thresholds = reinterpret_cast<const float*>(call.memory[2].data);
  NonMaxWork work{Scratch<Box>(call.pool), Scratch<uint64_t>(call.pool),
                  Scratch<int64_t>(call.pool), Scratch<int64_t>(call.pool)};
  Scratch<int64_t> rows(call.pool);
  // If there are no scores, nothing is computed: the numbers of batches and
  // classes may then be arbitrary.
  const int64_t used_batches = score_count > 0 ? batches : 0;
  if (used_batches > 0) {
    EMBER_RETURN_IF_ERROR(work.boxes.Resize(count));
    EMBER_RETURN_IF_ERROR(work.keys.Resize(count));
  }
  for (int64_t batch = 0; batch < used_batches; ++batch) {
    EMBER_RETURN_IF_ERROR(
        ForPieces(call, count, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            work.boxes[i] = ReadBox(raw_boxes + (batch * count + i) * 4,
                                    call.integers[4] != 0);
          }
        }));
    for (int64_t c = 0; c < classes; ++c) {
      const float* class_scores = scores + (batch * classes + c) * count;
      EMBER_RETURN_IF_ERROR(
          Suppress(call, work, class_scores, most, thresholds));
      for (int64_t box : work.kept) {
        for (int64_t number : {batch, c, box})
          EMBER_RETURN_IF_ERROR(rows.Add(number));
      }
    }
  }
  EMBER_ASSIGN_OR_RETURN(
      uint8_t* selected,
      AllocateBytes(call, call.allocated[0], rows.size(), sizeof(int64_t)));
  if (rows.size() > 0) {
    std::memcpy(selected, rows.data(),
                static_cast<size_t>(rows.size()) * sizeof(int64_t));
  }
  call.written_integers[0] = rows.size() / 3;
  return OkStatus();
}

Status DecodeImage(const LibraryCall& call) {
  const int64_t order = call.integers[0];
  EMBER_RETURN_IF_ERROR(Expect(order >= 0 && order < kPixelOrderCount,
                               "an order in [0, 2]", order));
  EMBER_ASSIGN_OR_RETURN(const int64_t count, Product({call.integers[1]}));
  EMBER_RETURN_IF_ERROR(ExpectBytes(call.memory[0], count, 1, "file"));
  if (call.images == nullptr) {
    return UnimplementedError(
        "expected a runtime that decodes pictures (SessionOptions::images), "
        "found "
        "one without; decode the file before, and cut ImageDecoder off the "
        "model");
  }
  // The decoder gets a copy, because another thread may change the memory of
  // the file while it is parsed.
  Scratch<uint8_t> file(call.pool);
  EMBER_RETURN_IF_ERROR(file.Resize(count));
  if (count > 0) {
    std::memcpy(file.data(), call.memory[0].data, static_cast<size_t>(count));
  }
  EMBER_ASSIGN_OR_RETURN(
      const DecodedImage image,
      call.images({file.begin(), file.end()}, static_cast<PixelOrder>(order),
                  call.pool));
  const int64_t bytes = static_cast<int64_t>(image.pixels.size());
  EMBER_ASSIGN_OR_RETURN(uint8_t* pixels,
                         AllocateBytes(call, call.allocated[0], bytes, 1));
  if (bytes > 0) std::memcpy(pixels, image.pixels.data(), image.pixels.size());
  call.written_integers[0] = image.height;
  call.written_integers[1] = image.width;
  return OkStatus();
}

}  // namespace

Status CallLibrary(LibraryFunction function, const LibraryCall& call) {
  switch (function) {
#define EMBER_CASE_Core(name)    \
  case LibraryFunction::k##name: \
    return name(call);
#define EMBER_CASE_Image(name) EMBER_CASE_Core(name)
#define EMBER_CASE_String(name)
#define EMBER_ROW(name, kind, ...) EMBER_CASE_##kind(name)
    EMBER_FOR_EACH_LIBRARY_FUNCTION(EMBER_ROW)
#undef EMBER_ROW
#undef EMBER_CASE_String
#undef EMBER_CASE_Image
#undef EMBER_CASE_Core
    default:
      break;
  }
  if (call.strings != nullptr) return call.strings->Call(function, call);
  return UnimplementedError("this runtime was built without string functions");
}

}  // namespace ember::vm
