// Compares float sums of many lengths and layouts, on each tier and back end,
// with compensated sums in long double: all errors are within the bound of
// tensor/sum_error.h. The following commands print a table of the errors:
//
//   ./dev sums                   lengths up to 10^7; minutes
//   ./dev sums --length=100000
//
// The test itself checks a part of the table.
//
// Errors are printed in units of u * (sum of magnitudes), so that the bound of
// a sum of n terms is about min(n, 2304).
#include "tensor/sum_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/kernel/testing/dispatch_executors.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"

namespace ember::jit {
namespace {

// Largest number of elements of an input: with more, the test would not fit in
// memory together with other programs.
constexpr int64_t kMaxElements = int64_t{160} << 20;

// The terms of a sum, and their layout in memory. In `text`, N is the length of
// the sum and C the number of columns, which are summed separately. Sums over
// two axes have one axis of extent 10.
struct Layout {
  const char* name;
  const char* text;
  bool has_two_axes = false;
  // true if the dispatch has C * C results, each a sum of products of elements
  // of two inputs
  bool is_matrix = false;
  bool is_square = false;  // true if the terms are squares of elements
  // Returns the number of the element that is term k of column c.
  int64_t (*element)(int64_t k, int64_t c, int64_t length, int64_t columns);
};

int64_t Along(int64_t k, int64_t c, int64_t length, int64_t) {
  return c * length + k;
}
int64_t Across(int64_t k, int64_t c, int64_t, int64_t columns) {
  return k * columns + c;
}
// Returns the index of an element in a layout [N / 10, C, 10]: ten terms of a
// column are contiguous, and the other axis of the sum is the outermost.
int64_t Around(int64_t k, int64_t c, int64_t, int64_t columns) {
  return (k / 10 * columns + c) * 10 + k % 10;
}

constexpr Layout kLayouts[] = {
    {"along memory", R"(dispatch @d<N>(%x: T[C, N]) -> (%y: T[C]) {
       %y[c] = sum(k < N) %x[c, k]
     })",
     false, false, false, Along},
    {"across memory", R"(dispatch @d<N>(%x: T[N, C]) -> (%y: T[C]) {
       %y[c] = sum(k < N) %x[k, c]
     })",
     false, false, false, Across},
    {"two axes across", R"(dispatch @d<N>(%x: T[N, 10, C]) -> (%y: T[C]) {
       %y[c] = sum(j < N, k < 10) %x[j, k, c]
     })",
     true, false, false, Across},
    {"on both sides", R"(dispatch @d<N>(%x: T[N, C, 10]) -> (%y: T[C]) {
       %y[c] = sum(j < N, k < 10) %x[j, c, k]
     })",
     true, false, false, Around},
    {"squares across", R"(dispatch @d<N>(%x: T[N, C]) -> (%y: T[C]) {
       %y[c] = sum(k < N) %x[k, c] * %x[k, c]
     })",
     false, false, true, Across},
    {"norm along", R"(dispatch @d<N>(%x: T[C, N]) -> (%y: T[C]) {
       temp %s: T[C]
       %s[c] = sum(k < N) %x[c, k] * %x[c, k]
       %y[c] = sqrt(%s[c]) * sqrt(%s[c])
     })",
     false, false, true, Along},
    {"matrix product",
     R"(dispatch @d<N>(%x: T[N, C], %w: T[N, C]) -> (%y: T[C, C]) {
       %y[i, j] = sum(k < N) %x[k, i] * %w[k, j]
     })",
     false, true, false, Across},
    {"matrix product, transposed",
     R"(dispatch @d<N>(%x: T[C, N], %w: T[C, N]) -> (%y: T[C, C]) {
       %y[i, j] = sum(k < N) %x[i, k] * %w[j, k]
     })",
     false, true, false, Along},
};

enum class Values : uint8_t { kNear125, kWide };

struct Case {
  const Layout* layout = nullptr;
  DType type = DType::kF32;
  int64_t columns = 1;
  int64_t length = 1;
  Values values = Values::kNear125;

  int64_t inputs() const { return layout->is_matrix ? 2 : 1; }
  int64_t results() const {
    return layout->is_matrix ? columns * columns : columns;
  }
  int64_t parameter() const {
    return layout->has_two_axes ? length / 10 : length;
  }
};

// Returns a random value of the kind `values`. All values have the same sign,
// and the element type represents each exactly.
double Draw(std::mt19937_64& random, Values values) {
  // a random number from 0 to just below 1
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  if (values == Values::kNear125) return 125.0 + 2 * unit - 1;
  return 1e-3 * std::exp2(20 * unit - 10);
}

template <typename T>
class Data {
 public:
  explicit Data(const Case& c) : case_(c) {
    std::mt19937_64 random(static_cast<uint64_t>(c.length * 64 + c.columns));
    const auto count = static_cast<size_t>(c.columns * c.length);
    for (int64_t i = 0; i < c.inputs(); ++i) {
      std::vector<T>& input = inputs_.emplace_back(count);
      for (T& element : input) element = static_cast<T>(Draw(random, c.values));
    }
    result_.resize(static_cast<size_t>(c.results()));
    exact_.resize(result_.size());
    for (size_t r = 0; r < exact_.size(); ++r) exact_[r] = Exact(r);
  }

  std::vector<void*> Pointers() {
    std::vector<void*> pointers;
    for (std::vector<T>& input : inputs_) pointers.push_back(input.data());
    pointers.push_back(result_.data());
    return pointers;
  }
  std::vector<int64_t> Sizes() const {
    std::vector<int64_t> sizes;
    for (const std::vector<T>& input : inputs_)
      sizes.push_back(static_cast<int64_t>(input.size() * sizeof(T)));
    sizes.push_back(static_cast<int64_t>(result_.size() * sizeof(T)));
    return sizes;
  }
  void Clear() { std::fill(result_.begin(), result_.end(), T(-1)); }
  // Returns the largest error of a result, in units of u * (sum of magnitudes).
  // All terms are positive.
  double Error() const {
    double most = 0;
    for (size_t r = 0; r < exact_.size(); ++r) {
      const double error = std::fabs(static_cast<double>(
          static_cast<long double>(result_[r]) - exact_[r]));
      const double relative = error / static_cast<double>(exact_[r]) /
                              tensor::UnitRoundoff(case_.type);
      // The negated comparison makes a NaN the largest error.
      if (!(relative <= most)) most = relative;
    }
    return most;
  }

 private:
  // Returns the exact sum for a result, by Neumaier's compensated summation:
  // the rounding errors of the additions are summed separately and added at the
  // end.
  long double Exact(size_t result) const {
    const auto r = static_cast<int64_t>(result);
    const int64_t left = case_.layout->is_matrix ? r / case_.columns : r;
    const int64_t right = r % case_.columns;
    const std::vector<T>& x = inputs_.front();
    const std::vector<T>& w = inputs_.back();
    long double sum = 0, rest = 0;
    for (int64_t k = 0; k < case_.length; ++k) {
      const auto at = [&](int64_t c) {
        return static_cast<size_t>(
            case_.layout->element(k, c, case_.length, case_.columns));
      };
      long double term = x[at(left)];
      if (case_.layout->is_matrix) term *= w[at(right)];
      if (case_.layout->is_square) term *= x[at(left)];
      const long double next = sum + term;
      rest += std::fabs(sum) >= std::fabs(term) ? sum - next + term
                                                : term - next + sum;
      sum = next;
    }
    return sum + rest;
  }

  const Case case_;
  std::vector<std::vector<T>> inputs_;
  std::vector<T> result_;
  std::vector<long double> exact_;
};

tensor::Dispatch DispatchOf(const Case& c) {
  std::string text = c.layout->text;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  const std::string columns = std::to_string(c.columns);
  replace(": T[", ": " + std::string(DTypeName(c.type)) + "[");
  replace("C]", columns + "]");
  replace("C,", columns + ",");
  auto dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString() << text;
  EXPECT_TRUE(tensor::Verify(*dispatch).ok()) << text;
  return *std::move(dispatch);
}

// Returns the largest error of the case's sums on the executor, or nothing if
// the executor declines the dispatch.
template <typename T>
std::optional<double> ErrorOf(const DispatchExecutor& executor, const Case& c,
                              const tensor::Dispatch& dispatch, Data<T>& data) {
  data.Clear();
  const Status status =
      RunBy(executor, dispatch, {c.parameter()}, data.Pointers(), data.Sizes());
  if (status.code() == StatusCode::kUnimplemented) return std::nullopt;
  EXPECT_TRUE(status.ok()) << executor.name << ": " << status.ToString();
  return data.Error();
}

bool Prints() { return std::getenv("EMBER_SUM_LENGTH") != nullptr; }
int64_t LongestSum() {
  const char* const given = std::getenv("EMBER_SUM_LENGTH");
  return given == nullptr ? 1000000 : std::strtoll(given, nullptr, 0);
}

// True if there is enough time and memory to run the case `c`.
bool IsTried(const Case& c) {
  const int64_t elements = c.columns * c.length * c.inputs();
  // True for the cases that show errors best, which are therefore tried at
  // larger sizes: adding a million f32 numbers near 125 one by one gives a
  // wrong sum.
  const bool is_telling = c.columns == 16 && !c.layout->is_matrix &&
                          c.values == Values::kNear125 && c.type == DType::kF32;
  const int64_t most = Prints()     ? kMaxElements
                       : is_telling ? int64_t{16} << 20
                                    : int64_t{2} << 20;
  const int64_t most_products = Prints() ? int64_t{1} << 29 : int64_t{1} << 26;
  return elements <= most &&
         (!c.layout->is_matrix || c.results() * c.length <= most_products);
}

// Returns the names of the executors that have computed at least one sum.
std::set<std::string>& HaveRun() {
  static std::set<std::string>& names = *new std::set<std::string>;
  return names;
}

struct Row {
  DispatchExecutor executor;
  std::string text;
  double worst = 0;
};

// Checks sums of all lengths in one layout, with one number of columns and one
// kind of values.
template <typename T>
void CheckLengths(const Layout& layout, DType type, int64_t columns,
                  Values values) {
  std::vector<Row> rows;
  for (const DispatchExecutor& executor : DispatchExecutorsHere())
    rows.push_back({executor, "", 0});
  std::string lengths;
  const int64_t factor = Prints() ? 10 : 100;
  for (int64_t length = 1; length <= LongestSum(); length *= factor) {
    Case c{&layout, type, columns, length, values};
    if (layout.has_two_axes && length < 10) continue;
    if (!IsTried(c)) break;
    const tensor::Dispatch dispatch = DispatchOf(c);
    Data<T> data(c);
    const double bound =
        tensor::SumErrorBound(length, type, 1) / tensor::UnitRoundoff(type);
    for (Row& row : rows) {
      SCOPED_TRACE(std::string(row.executor.name) + ", " + layout.name + ", " +
                   std::to_string(columns) + " columns, length " +
                   std::to_string(length));
      const std::optional<double> error =
          ErrorOf(row.executor, c, dispatch, data);
      char text[32] = " |        -";
      if (error) {
        std::snprintf(text, sizeof(text), " | %8.2f", *error);
        // In this layout the result is the square of a norm: the root and the
        // square add rounding errors to those of the sum.
        const double more =
            std::string_view(layout.name) == "norm along" ? 4 : 0;
        EXPECT_LE(*error, bound + more);
        row.worst = std::max(row.worst, *error);
        HaveRun().insert(row.executor.name);
      }
      row.text += text;
    }
    char text[32];
    std::snprintf(text, sizeof(text), " | %8.0e", static_cast<double>(length));
    lengths += text;
  }
  if (!Prints()) return;
  std::printf("\n%s, %lld columns, %s, %s%s\n", layout.name,
              static_cast<long long>(columns),
              std::string(DTypeName(type)).c_str(),
              values == Values::kNear125 ? "124..126" : "1e-6..1",
              layout.is_matrix || layout.is_square ? ", products" : "");
  std::printf("| %-14s%s |\n", "length", lengths.c_str());
  for (const Row& row : rows)
    std::printf("| %-14s%s |\n", row.executor.name, row.text.c_str());
}

TEST(SumErrorTest, WithinTheBound) {
  if (Prints()) std::printf("errors in units of u * (sum of magnitudes)\n");
  for (const Layout& layout : kLayouts) {
    for (const int64_t columns : {1, 16, 64})
      CheckLengths<float>(layout, DType::kF32, columns, Values::kNear125);
    if (Prints()) CheckLengths<float>(layout, DType::kF32, 1, Values::kWide);
    CheckLengths<float>(layout, DType::kF32, 16, Values::kWide);
    if (Prints()) CheckLengths<float>(layout, DType::kF32, 64, Values::kWide);
  }
  // Each executor must have computed at least one sum; an executor that
  // declines all of them was not tested.
  for (const DispatchExecutor& executor : DispatchExecutorsHere())
    EXPECT_TRUE(HaveRun().contains(executor.name)) << executor.name;
}

TEST(SumErrorTest, OfF64) {
  for (const Layout& layout : std::span(kLayouts).first(Prints() ? 8 : 2))
    CheckLengths<double>(layout, DType::kF64, 16, Values::kNear125);
}

// A sum with infinite or NaN terms has the result that adding the terms one
// after the other has, on every executor.
TEST(SumErrorTest, WhatIsNotFinite) {
  constexpr float kInfinity = HUGE_VALF;
  struct Special {
    float a, b;
    float sum;
  };
  for (const Special& special :
       {Special{kInfinity, 1, kInfinity}, Special{-kInfinity, 1, -kInfinity},
        Special{kInfinity, -kInfinity, NAN}, Special{NAN, 1, NAN},
        Special{3e38f, 3e38f, kInfinity}}) {
    for (const Layout* layout : {&kLayouts[0], &kLayouts[1], &kLayouts[3]}) {
      const Case c{layout, DType::kF32, 16, 60000, Values::kNear125};
      const tensor::Dispatch dispatch = DispatchOf(c);
      std::vector<float> x(static_cast<size_t>(c.columns * c.length), 1.0f);
      std::vector<float> y(16);
      // Terms 5 and 50013 of each sum are infinite or NaN. Depending on the
      // layout, one vector lane or two different lanes add them.
      for (int64_t column = 0; column < 16; ++column) {
        for (const auto& [k, value] :
             {std::pair(int64_t{5}, special.a), {int64_t{50013}, special.b}}) {
          x[static_cast<size_t>(
              layout->element(k, column, c.length, c.columns))] = value;
        }
      }
      for (const DispatchExecutor& executor : DispatchExecutorsHere()) {
        SCOPED_TRACE(std::string(executor.name) + ", " + layout->name);
        const int64_t sizes[] = {static_cast<int64_t>(x.size()) * 4, 64};
        void* const buffers[] = {x.data(), y.data()};
        const Status status =
            RunBy(executor, dispatch, {c.parameter()}, buffers, sizes);
        if (status.code() == StatusCode::kUnimplemented) continue;
        ASSERT_TRUE(status.ok()) << status.ToString();
        for (const float found : y) {
          if (std::isnan(special.sum))
            EXPECT_TRUE(std::isnan(found)) << found;
          else
            EXPECT_EQ(found, special.sum);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ember::jit
