// Checks random sums of hundreds of thousands of numbers of one sign, by every
// executor, against the bound of tensor/sum_error.h. The axes that are summed
// over, their layout in memory, the open extents and the terms are random.
//
//   EMBER_SEEDS=1000 bazel run -c opt //jit/kernel:random_sums_test
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "jit/kernel/testing/dispatch_executors.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/sum_error.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"

namespace ember::jit {
namespace {

using tensor::RandomChoices;

constexpr int64_t kMaxPoints = 4'000'000;

struct RandomSum {
  std::string text;
  std::vector<int64_t> parameters;
  std::vector<int64_t> inputs;  // number of elements of each input
  int64_t results = 1;
  int64_t terms = 1;
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  RandomSum Make() {
    MakeAxes();
    AddInput("x", All());
    std::string term = "%x[" + Indices(order_) + "]";
    switch (random_.Below(4)) {
      case 0:
        term += " * " + term;
        break;
      // The term is multiplied by a second input, which is indexed by some of
      // the axes of the sum and of the results.
      case 1: {
        std::vector<size_t> some;
        for (size_t a : All()) {
          if (!random_.Chance(2)) some.push_back(a);
        }
        AddInput("w", some);
        term += " * %w[" + Indices(order_) + "]";
        break;
      }
      case 2:
        term = "max(" + term + " + 1.0, 0.5)";
        break;
      default:
        break;
    }
    std::vector<size_t> results;
    std::string reduced;
    for (size_t a : All()) {
      if (!axes_[a].is_reduction) results.push_back(a);
      if (!axes_[a].is_reduction) continue;
      reduced += (reduced.empty() ? "" : ", ") + axes_[a].name + " < " +
                 axes_[a].extent_text;
      sum_.terms *= axes_[a].extent;
    }
    for (size_t a : results) sum_.results *= axes_[a].extent;
    std::string header;
    for (size_t p = 0; p < sum_.parameters.size(); ++p)
      header += (p == 0 ? "" : ", ") + ("N" + std::to_string(p));
    if (!header.empty()) header = "<" + header + ">";
    sum_.text = "dispatch @sum" + header + "(" + inputs_text_ +
                ") -> (%y: " + "f32[" + Extents(results) + "]) {\n  %y[" +
                Indices(results) + "] = sum(" + reduced + ") " + term + "\n}\n";
    return std::move(sum_);
  }

 private:
  struct AxisOfSum {
    std::string name;
    std::string extent_text;
    int64_t extent = 1;
    bool is_reduction = false;
  };

  int64_t Between(int64_t low, int64_t high) {
    return low + random_.Below(static_cast<int>(high - low + 1));
  }

  void MakeAxes() {
    const int reductions = 1 + random_.Below(3);
    const int others = random_.Below(3);
    int64_t terms = Between(200'000, 500'000);
    int64_t results = random_.Pick(std::vector<int64_t>{1, 2, 3, 7, 8, 16});
    for (int i = 0; i < reductions + others; ++i) {
      AxisOfSum axis;
      axis.is_reduction = i < reductions;
      axis.name = (axis.is_reduction ? "k" : "i") + std::to_string(i);
      int64_t& left = axis.is_reduction ? terms : results;
      const bool is_last = i + 1 == reductions || i + 1 == reductions + others;
      // Extents are drawn on a logarithmic scale, so that both short and long
      // axes occur.
      axis.extent =
          is_last ? left
                  : std::min<int64_t>(
                        left, static_cast<int64_t>(std::exp2(
                                  0.1 * static_cast<double>(Between(0, 180)))));
      left = std::max<int64_t>(left / axis.extent, 1);
      axis.extent_text = std::to_string(axis.extent);
      if (random_.Chance(3)) {
        axis.extent_text = "N" + std::to_string(sum_.parameters.size());
        sum_.parameters.push_back(axis.extent);
      }
      axes_.push_back(std::move(axis));
    }
  }

  std::vector<size_t> All() const {
    std::vector<size_t> all(axes_.size());
    for (size_t a = 0; a < all.size(); ++a) all[a] = a;
    return all;
  }

  // Adds an input whose dims are the axes in a random order, and stores that
  // order in order_.
  void AddInput(const char* name, std::vector<size_t> axes) {
    for (size_t i = axes.size(); i > 1; --i) {
      std::swap(axes[i - 1],
                axes[static_cast<size_t>(random_.Below(static_cast<int>(i)))]);
    }
    order_ = std::move(axes);
    int64_t elements = 1;
    for (size_t a : order_) elements *= axes_[a].extent;
    sum_.inputs.push_back(elements);
    inputs_text_ += (inputs_text_.empty() ? "" : ", ") +
                    ("%" + std::string(name)) + ": f32[" + Extents(order_) +
                    "]";
  }

  std::string Extents(const std::vector<size_t>& axes) const {
    std::string text;
    for (size_t a : axes)
      text += (text.empty() ? "" : ", ") + axes_[a].extent_text;
    return text;
  }
  std::string Indices(const std::vector<size_t>& axes) const {
    std::string text;
    for (size_t a : axes) text += (text.empty() ? "" : ", ") + axes_[a].name;
    return text;
  }

  RandomChoices random_;
  std::vector<AxisOfSum> axes_;
  std::vector<size_t> order_;
  std::string inputs_text_;
  RandomSum sum_;
};

TEST(RandomSumsTest, WithinTheBound) {
  const SeedRange seeds = TestSeeds(12, 0);
  int compared = 0, declined = 0;
  double worst = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const RandomSum sum = Maker(seed).Make();
    SCOPED_TRACE("replay with EMBER_SEED=" + std::to_string(seed) + "\n" +
                 sum.text);
    if (sum.terms * sum.results > kMaxPoints * 2) continue;
    const auto dispatch = tensor::Parse(sum.text);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    ASSERT_TRUE(tensor::Verify(*dispatch).ok());
    std::mt19937_64 random(seed);
    std::vector<std::vector<float>> inputs;
    std::vector<void*> buffers;
    std::vector<int64_t> sizes;
    inputs.reserve(sum.inputs.size());
    for (int64_t elements : sum.inputs) {
      std::vector<float>& input =
          inputs.emplace_back(static_cast<size_t>(elements));
      for (float& element : input)
        element = 124.0f + static_cast<float>(random() >> 40) * 0x1p-23f;
      buffers.push_back(input.data());
      sizes.push_back(elements * 4);
    }
    std::vector<float> expected(static_cast<size_t>(sum.results));
    buffers.push_back(expected.data());
    sizes.push_back(sum.results * 4);
    ASSERT_TRUE(tensor::Evaluate(*dispatch, sum.parameters, buffers,
                                 {.accumulate_in_f64 = true})
                    .ok());
    for (const DispatchExecutor& executor : DispatchExecutorsHere()) {
      std::vector<float> found(expected.size());
      buffers.back() = found.data();
      const Status status =
          RunBy(executor, *dispatch, sum.parameters, buffers, sizes);
      if (status.code() == StatusCode::kUnimplemented) {
        ++declined;
        continue;
      }
      ASSERT_TRUE(status.ok()) << executor.name << ": " << status.ToString();
      ++compared;
      for (size_t i = 0; i < found.size(); ++i) {
        const double exact = expected[i];
        // The reference is itself a sum that was rounded to f32, so the bound
        // for one more term is used.
        const double bound =
            tensor::SumErrorBound(sum.terms + 1, DType::kF32, exact);
        const double error = std::fabs(static_cast<double>(found[i]) - exact);
        worst = std::max(worst, error / exact * 0x1p24);
        ASSERT_LE(error, bound)
            << executor.name << ", element " << i << ": expected " << exact
            << ", found " << found[i];
      }
    }
  }
  std::printf("%d compared, %d declined, the worst off by %.1f u\n", compared,
              declined, worst);
}

}  // namespace
}  // namespace ember::jit
