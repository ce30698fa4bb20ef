#include "tools/lib/tuning/predicted_gain.h"

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tensor/text/text.h"
#include "tune/model/tree_model.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::tools {
namespace {

using testing::HasSubstr;

// A cost model that predicts each candidate to be faster than the one before
// it.
class RisingModel final : public tune::CostModel {
 public:
  std::vector<Prediction> Predict(
      std::span<const std::vector<float>> features) const override {
    std::vector<Prediction> predictions;
    for (size_t i = 0; i < features.size(); ++i)
      predictions.push_back({0.1 * static_cast<double>(i), 0.3});
    return predictions;
  }
  void Update(std::span<const std::vector<float>>,
              std::span<const double>) override {}
};

tune::Task TaskOf(const tensor::Dispatch& dispatch) {
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.target = "x86_64-linux+avx2+fma+cores=1";
  request.constant_inputs.resize(2);
  request.constant_data.resize(2);
  return tune::MakeTask(request);
}

TEST(PredictGain, ComparesTheBestScheduleWithTheDefaultOne) {
  const auto dispatch = tensor::Parse(R"(
dispatch @product(%x: f32[64, 64], %w: f32[64, 64]) -> (%y: f32[64, 64]) {
  %y[i, j] = sum(k < 64) %x[i, k] * %w[k, j]
})");
  ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
  const tune::Task task = TaskOf(*dispatch);
  const auto none = PredictGain(task, RisingModel(), {.schedules = 0});
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_EQ(none->factor, 1);
  // The default schedule does 2 * 64^3 operations, which take some microseconds
  // on any machine.
  EXPECT_GT(none->seconds, 1e-6);
  EXPECT_LT(none->seconds, 1e-3);
  const auto some = PredictGain(task, RisingModel(), {.schedules = 6});
  ASSERT_TRUE(some.ok()) << some.status().ToString();
  EXPECT_GT(some->factor, std::exp(0.25));
  EXPECT_LT(some->factor, std::exp(0.65));
  EXPECT_NEAR(some->deviation, 0.3 * std::sqrt(2), 1e-9);
}

TEST(PredictedGainText, HasARowPerDispatch) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  const auto session = *vm::Session::Create(
      module, {.device = *hal::CreateCpuDevice({.threads = 1}), .trace = true});
  const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {2, 3});
  std::vector<vm::Tensor> results;
  EXPECT_TRUE(session->Run({&x, 1}, &results).ok());
  const auto text = PredictedGainText(*session, module, {});
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_THAT(*text, HasSubstr("predicted µs"));
  EXPECT_THAT(*text, HasSubstr("| gemm "));
  EXPECT_THAT(*text, HasSubstr("| bias_relu "));
  EXPECT_THAT(*text, HasSubstr("(geometric mean)"));
}

}  // namespace
}  // namespace ember::tools
