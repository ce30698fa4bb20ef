#include "jit/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {
namespace {

class NamedKernel : public vm::HostKernel {
 public:
  int tier() const override { return 2; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const vm::KernelCall&) const override { return OkStatus(); }
  double error_growth() const override { return growth; }
  std::string Describe() const override { return ""; }
  double growth = 1;
};

class OracleTest : public testing::Test {
 protected:
  void Use(const std::string& text) {
    auto dispatch = tensor::Parse(text);
    ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
    dispatch_ = *std::move(dispatch);
  }
  template <typename T>
  std::string Judge(std::vector<const void*> inputs, const std::vector<T>& want,
                    const std::vector<T>& got) {
    const void* wants[] = {want.data()};
    const void* gots[] = {got.data()};
    return JudgeAll(inputs, wants, gots).wrong;
  }
  vm::KernelVerdict JudgeAll(std::span<const void* const> inputs,
                             std::span<const void* const> want,
                             std::span<const void* const> got,
                             std::span<const int64_t> parameters = {}) {
    return oracle_.Judge({.dispatch = dispatch_,
                          .kernel = kernel_,
                          .parameters = parameters,
                          .target = "test",
                          .constant_inputs = constant_inputs_,
                          .inputs = inputs,
                          .want = want,
                          .got = got,
                          .shared = {},
                          .want_status = want_status_,
                          .got_status = got_status_});
  }

  tensor::Dispatch dispatch_;
  NamedKernel kernel_;
  std::vector<bool> constant_inputs_;
  Status want_status_, got_status_;
  std::vector<std::string> reported_;
  Oracle oracle_{{.report = [this](const vm::ComparedCall&,
                                   const std::string& difference) {
    reported_.push_back(difference);
    return std::string("see elsewhere");
  }}};
};

constexpr char kDot[] =
    "dispatch @dot(%x: f32[1000], %y: f32[1000]) -> (%z: f32[]) {\n"
    "  %z[] = sum(k < 1000) %x[k] * %y[k]\n}";

TEST_F(OracleTest, SumsThatCancelAreRightInAnyOrder) {
  Use(kDot);
  std::vector<float> x(1000), y(1000, 1);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = (i < 500 ? 1.0f : -1.0f) *
           (1e5f + static_cast<float>(i * i % 977) * 0.37f);
  float up = 0, down = 0;
  for (size_t i = 0; i < x.size(); ++i) up += x[i] * 1.0001f;
  for (size_t i = x.size(); i-- > 0;) down += x[i] * 1.0001f;
  std::ranges::fill(y, 1.0001f);
  ASSERT_NE(up, down);
  EXPECT_EQ(Judge<float>({x.data(), y.data()}, {up}, {down}), "");
  EXPECT_EQ(oracle_.totals().suspects, 1);
  const std::string wrong =
      Judge<float>({x.data(), y.data()}, {up}, {up + x[500]});
  EXPECT_NE(wrong.find("differs: "), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("tier 2 with no parameters: %z[]: got "),
            std::string::npos)
      << wrong;
  EXPECT_NE(wrong.find("1 of 1 elements differ"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("; see elsewhere"), std::string::npos) << wrong;
  EXPECT_EQ(reported_.size(), 1u);
}

TEST_F(OracleTest, OneElementOfAMillion) {
  Use("dispatch @twice(%x: f32[1000000]) -> (%y: f32[1000000]) {\n"
      "  %y[i] = %x[i] * 2.5\n}");
  std::vector<float> x(1000000), want(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 0.1f * static_cast<float>(i % 1001);
    want[i] = x[i] * 2.5f;
  }
  std::vector<float> got = want;
  EXPECT_EQ(Judge<float>({x.data()}, want, got), "");
  got[777778] = std::nextafter(got[777778], 0.0f);
  EXPECT_EQ(Judge<float>({x.data()}, want, got), "");
  got[777778] *= 1.00002f;
  EXPECT_NE(Judge<float>({x.data()}, want, got).find("[777778]"),
            std::string::npos);
  got = want;
  got.back() = NAN;
  EXPECT_NE(Judge<float>({x.data()}, want, got).find("got nan"),
            std::string::npos);
}

TEST_F(OracleTest, QuantizedResultsMayBeAStepOffWhereRoundingDecides) {
  Use(R"(dispatch @quantize(%x: f32[4], %s: f32[4]) -> (%y: i8[4]) {
  %y[i] = i8(round(%x[i] * %s[i] + 0.5))
})");
  // The first two products are halfway between integers, so rounding errors
  // decide which integer `round` gives. The oracle must accept results that are
  // one step off there.
  const std::vector<float> x = {30, 10, 7.2f, 3}, s(4, 0.1f);
  const std::vector<int8_t> want = {4, 2, 1, 1};
  EXPECT_EQ(Judge<int8_t>({x.data(), s.data()}, want, {3, 1, 1, 1}), "");
  EXPECT_NE(Judge<int8_t>({x.data(), s.data()}, want, {2, 2, 1, 1}), "");
  EXPECT_NE(Judge<int8_t>({x.data(), s.data()}, want, {4, 2, 2, 1}), "");
}

TEST_F(OracleTest, OtherProductsMayRoundMore) {
  Use(kDot);
  std::vector<float> x(1000, 0.5f), y(1000, 1);
  x[0] = 0.25f;
  EXPECT_NE(Judge<float>({x.data(), y.data()}, {499.75f}, {499.8f}), "");
  kernel_.growth = 272;
  EXPECT_EQ(Judge<float>({x.data(), y.data()}, {499.75f}, {499.8f}), "");
  EXPECT_NE(Judge<float>({x.data(), y.data()}, {499.75f}, {501}), "");
}

TEST_F(OracleTest, BothOrNoneMayFail) {
  Use(kDot);
  std::vector<float> x(1000, 0.5f), z = {500};
  const void* inputs[] = {x.data(), x.data()};
  const void* results[] = {z.data()};
  got_status_ = InvalidArgumentError("out of range");
  EXPECT_NE(JudgeAll(inputs, results, results).wrong, "");
  std::swap(got_status_, want_status_);
  EXPECT_NE(JudgeAll(inputs, results, results).wrong, "");
  got_status_ = want_status_;
  EXPECT_EQ(JudgeAll(inputs, results, results).wrong, "");
}

TEST_F(OracleTest, OperandsThatAreAllAlikeTellLittle) {
  Use(kDot);
  const std::vector<float> zeros(1000), z = {0};
  std::vector<float> y(1000, 1);
  y[3] = 2;
  const void* inputs[] = {zeros.data(), y.data()};
  const void* results[] = {z.data()};
  EXPECT_TRUE(JudgeAll(inputs, results, results).tells_little);
  constant_inputs_ = {true, false};
  EXPECT_FALSE(JudgeAll(inputs, results, results).tells_little);
}

TEST_F(OracleTest, StoresOfEveryElementAreSeen) {
  const auto stores_all = [&](const std::string& stages, int64_t n) {
    Use("dispatch @d<N>(%x: f32[N], %i: i64[4]) -> (%y: f32[N, 4]) {" + stages +
        "}");
    const std::vector<int64_t> parameters = {n};
    return oracle_.StoresAll(dispatch_, parameters, 0);
  };
  EXPECT_TRUE(stores_all("%y[i, j] = %x[i]", 3));
  EXPECT_TRUE(stores_all("for (j < 4, i < N) %y[i, j] = %x[i]", 3));
  EXPECT_FALSE(stores_all("for (i < N, j < 3) %y[i, j] = %x[i]", 3));
  EXPECT_TRUE(
      stores_all("for (i < N, j < 3) %y[i, j] = %x[i]\n"
                 "for (i < N) %y[i, 3] = 0.0",
                 3));
  EXPECT_FALSE(
      stores_all("for (i < N, j < 3) %y[i, j] = %x[i]\n"
                 "for (i < N) %y[i, 1] = 0.0",
                 3));
  EXPECT_FALSE(stores_all("for (i < N, j < 4) %y[i, %i[j]] = %x[i]", 3));
  EXPECT_FALSE(
      stores_all("for (i < N, j < 4) %y[i, mod(j * 2, 4)] = %x[i]", 3));
}

// Tier 0 and the scalar evaluator may round differently. Both are right, so the
// oracle must not judge either to be wrong.
TEST_F(OracleTest, ExecutorsThatAreRightAreNotWithdrawn) {
  const SeedRange seeds = TestSeeds(300, 0);
  SerialRunner runner;
  int64_t judged = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    const tensor::RandomCase c = tensor::MakeRandomCase(seed, {.exact = false});
    dispatch_ = c.dispatch;
    auto first = c.MakeBuffers(), second = c.MakeBuffers();
    const auto plan = vm::Plan::Make(dispatch_, c.parameters, {});
    ASSERT_TRUE(plan.ok()) << plan.status().ToString();
    const std::vector<void*> pointers = tensor::Pointers(first);
    want_status_ =
        tensor::Evaluate(dispatch_, c.parameters, tensor::Pointers(second),
                         {.accumulate_in_f64 = seed % 2 == 0});
    got_status_ = (*plan)->Run(pointers, runner);
    if (!want_status_.ok() || !got_status_.ok()) continue;
    std::vector<const void*> inputs, want, got;
    for (size_t i = 0; i < first.size(); ++i) {
      if (i < dispatch_.input_count()) {
        inputs.push_back(first[i].data());
        continue;
      }
      got.push_back(first[i].data());
      want.push_back(second[i].data());
    }
    ++judged;
    EXPECT_EQ(JudgeAll(inputs, want, got, c.parameters).wrong, "")
        << "replay: EMBER_SEED=" << seed
        << " bazel run //jit/oracle:oracle_test\n"
        << tensor::Print(dispatch_);
  }
  EXPECT_GT(judged, seeds.end - seeds.begin > 1 ? 100 : -1);
  RecordProperty("suspects", static_cast<int>(oracle_.totals().suspects));
}

}  // namespace
}  // namespace ember::jit
