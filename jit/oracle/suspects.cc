#include "jit/oracle/suspects.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ember::jit {
namespace {

// Number of neighbouring elements in a block. In a block of sums, the tolerance
// of each element also depends on the largest one of those that differ.
constexpr int64_t kBlock = 256;
// Number of elements that are examined between two checks of the interrupt.
constexpr int64_t kAtOnce = 1024 * kBlock;
// Number of equal parts into which the buffer is divided; suspects are chosen
// from each, so that they are spread over the buffer.
constexpr int64_t kParts = 8;

template <NarrowFloat T>
double Number(T value) {
  return ToFloat(value);
}
template <typename T>
double Number(T value) {
  return static_cast<double>(value);
}

struct Worst {
  int64_t element = -1;
  double measure = 0;
  void Add(int64_t candidate, double value) {
    if (element >= 0 && !(value > measure)) return;
    element = candidate;
    measure = value;
  }
};

template <typename T>
class Search {
 public:
  Search(DType type, const T* got, const T* want, int64_t count, bool sums,
         const Interrupt* interrupt)
      : tolerance_(UsualDifference(type)),
        got_(got),
        want_(want),
        count_(count),
        sums_(sums),
        interrupt_(interrupt) {}

  Suspects Run() {
    for (int64_t begin = 0; begin < count_; begin += kBlock) {
      if (begin % kAtOnce == 0 && interrupt_ != nullptr &&
          interrupt_->ShouldStop())
        break;
      LookAt(begin, std::min(begin + kBlock, count_));
    }
    // Collects the suspects of all parts and sorts them by distance, largest
    // first. An element may be both the worst by absolute and by relative
    // distance, so duplicates are dropped.
    std::vector<std::pair<double, int64_t>> found;
    for (int64_t part = 0; part < kParts; ++part) {
      for (const Worst& worst : {absolute_[part], relative_[part]}) {
        if (worst.element < 0) continue;
        found.emplace_back(-Distance(worst.element), worst.element);
      }
    }
    std::ranges::sort(found);
    for (const auto& [measure, element] : found) {
      if (std::ranges::find(suspects_.elements, element) ==
          suspects_.elements.end())
        suspects_.elements.push_back(element);
    }
    return std::move(suspects_);
  }

 private:
  double Distance(int64_t i) const {
    const double got = Number(got_[i]), want = Number(want_[i]);
    if (got == want || (std::isnan(got) && std::isnan(want))) {
      if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
        // The type double may represent two different 64-bit integers by the
        // same number; their distance then counts as 1.
        return got_[i] == want_[i] ? 0 : 1;
      return 0;
    }
    const double distance = std::abs(got - want);
    return std::isnan(distance) ? std::numeric_limits<double>::infinity()
                                : distance;
  }

  void LookAt(int64_t begin, int64_t end) {
    const auto bytes = static_cast<size_t>(end - begin) * sizeof(T);
    if (std::memcmp(got_ + begin, want_ + begin, bytes) == 0) return;
    double size = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double want = std::abs(Number(want_[i]));
      if (std::isfinite(want) && Distance(i) > 0) size = std::max(size, want);
    }
    suspects_.size = std::max(suspects_.size, size);
    for (int64_t i = begin; i < end; ++i) {
      const double distance = Distance(i);
      if (distance == 0) continue;
      const double want = std::abs(Number(want_[i]));
      const double usual = std::isfinite(want)
                               ? tolerance_ * (want + (sums_ ? size / 2 : 0))
                               : 0;
      if (distance <= usual) continue;
      ++suspects_.count;
      suspects_.largest = std::max(suspects_.largest, distance);
      const auto part = static_cast<size_t>(i * kParts / count_);
      absolute_[part].Add(i, distance);
      relative_[part].Add(
          i, distance / (want + std::numeric_limits<float>::min()));
    }
  }

  const double tolerance_;
  const T* const got_;
  const T* const want_;
  const int64_t count_;
  const bool sums_;
  const Interrupt* const interrupt_;
  Suspects suspects_;
  Worst absolute_[kParts], relative_[kParts];
};

}  // namespace

double UsualDifference(DType type) {
  switch (type) {
    case DType::kF64:
      return 0x1p-44;
    case DType::kF32:
      return 0x1p-18;
    case DType::kF16:
      return 0x1p-9;
    case DType::kBF16:
      return 0x1p-6;
    case DType::kF8E4M3FN:
      return 0x1p-2;
    case DType::kF8E5M2:
      return 0x1p-1;
    default:
      return 0;
  }
}

Suspects FindSuspects(DType type, const void* got, const void* want,
                      int64_t count, bool sums, const Interrupt* interrupt) {
  switch (type) {
#define EMBER_ROW(name, text, storage, bits, kind)                         \
  case DType::k##name:                                                     \
    return Search<storage>(type, static_cast<const storage*>(got),         \
                           static_cast<const storage*>(want), count, sums, \
                           interrupt)                                      \
        .Run();
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
  }
  return {};
}

}  // namespace ember::jit
