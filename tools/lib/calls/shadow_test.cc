#include "tools/lib/calls/shadow.h"

#include <filesystem>
#include <functional>
#include <thread>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tensor/text/text.h"
#include "tools/lib/calls/repro.h"
#include "tools/lib/tensors/elements.h"
#include "tools/lib/testing/faulty_kernel.h"
#include "tools/lib/testing/interpreting_kernel.h"
#include "vm/isa/text.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FailingKernel : public InterpretingKernel {
 public:
  using InterpretingKernel::InterpretingKernel;
  Status Run(const vm::KernelCall&) const override {
    return InvalidArgumentError("no luck");
  }
};

// A kernel provider for tests that compiles at once. It installs a correct
// kernel, or the kernel that a test makes in its place.
class TestProvider : public vm::KernelProvider {
 public:
  using Make = std::function<std::unique_ptr<vm::Kernel>(
      std::unique_ptr<vm::Kernel> right)>;
  explicit TestProvider(std::shared_ptr<Shadow> shadow)
      : shadow_(std::move(shadow)) {}
  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    std::unique_ptr<vm::Kernel> kernel =
        std::make_unique<InterpretingKernel>(*request.dispatch, request.tier);
    if (request.dispatch->name == dispatch) kernel = make(std::move(kernel));
    slot->Install(shadow_->Wrap(request, *slot, {"the schedule", "the nest"},
                                std::move(kernel)));
  }
  std::string dispatch;
  Make make;

 private:
  std::shared_ptr<Shadow> shadow_;
};

void AddOneToFirst(const vm::KernelCall& call) {
  static_cast<float*>(call.buffers.back())[0] += 1;
}

class ShadowTest : public testing::Test {
 protected:
  ShadowTest()
      : module_(
            *vm::Module::FromDefinition(*vm::ParseModule(kGemmReluModule))) {
    std::filesystem::remove_all(Folder());
  }

  static std::string Folder() { return testing::TempDir() + "/shadow"; }

  void Start(std::string dispatch, TestProvider::Make make, int64_t runs = 3) {
    shadow_ = std::make_shared<Shadow>(
        ShadowOptions{.folder = Folder(), .runs = runs});
    auto provider = std::make_shared<TestProvider>(shadow_);
    provider->dispatch = std::move(dispatch);
    provider->make = std::move(make);
    tiering_ =
        std::make_shared<vm::Tiering>(module_, provider, vm::Tiering::Eager(2));
    session_ = NewSession(tiering_);
  }
  void Start(std::string dispatch, const FaultyKernel::Spoil& spoil,
             const FaultyKernel::Applies& applies, int64_t runs = 3) {
    Start(
        std::move(dispatch),
        [=](std::unique_ptr<vm::Kernel> right) {
          return std::make_unique<FaultyKernel>(std::move(right), spoil,
                                                applies);
        },
        runs);
  }
  std::unique_ptr<vm::Session> NewSession(
      std::shared_ptr<vm::Tiering> tiering) const {
    return *vm::Session::Create(
        module_, {.device = *hal::CreateCpuDevice({.threads = 1}),
                  .tiering = std::move(tiering)});
  }
  // Runs the session on an input [rows, 3], in which each row is (first, 1, 2).
  // Returns the elements of the result.
  static std::vector<float> Run(vm::Session& session, float first,
                                int64_t rows = 1) {
    const vm::Tensor x = *vm::Tensor::Allocate(DType::kF32, {rows, 3});
    for (int64_t i = 0; i < rows; ++i) {
      float* const row = static_cast<float*>(x.data) + 3 * i;
      row[0] = first;
      row[1] = 1;
      row[2] = 2;
    }
    std::vector<vm::Tensor> results;
    const Status status = session.Run({&x, 1}, &results);
    EXPECT_TRUE(status.ok()) << status.ToString();
    const auto y = results[0].elements<float>();
    return {y.begin(), y.end()};
  }

  std::shared_ptr<const vm::Module> module_;
  std::shared_ptr<Shadow> shadow_;
  std::shared_ptr<vm::Tiering> tiering_;
  std::unique_ptr<vm::Session> session_;
};

// The expected results are those of a row with first = 2: x * w = (2 + 0.5 - 2,
// -4 + 4 + 0.5), plus the bias b, through ReLU.
TEST_F(ShadowTest, RightKernelsStay) {
  Start("", nullptr);
  for (int i = 0; i < 10; ++i)
    EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  for (const vm::SiteProfile& site : session_->Profile())
    EXPECT_EQ(site.tier, 2);
  EXPECT_EQ(shadow_->checked_kernels(), 2);
  EXPECT_EQ(shadow_->checked_calls(), 2 * 3);
  // An input with five rows gives the dispatches other parameters, so kernels
  // of their own are made and checked.
  Run(*session_, 2, 5);
  EXPECT_EQ(shadow_->checked_calls(), 2 * 4);
  EXPECT_EQ(shadow_->Text(),
            "shadow: 4 kernels checked in 8 calls, 0 withdrawn\n");
  EXPECT_FALSE(std::filesystem::exists(Folder()));
}

TEST_F(ShadowTest, AWrongKernelIsWithdrawnAndItsCallWritten) {
  Start("bias_relu", AddOneToFirst, [](const vm::KernelCall&) { return true; });
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0)) << "tier 0's result";
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  EXPECT_EQ(session_->Profile()[0].tier, 2);
  EXPECT_EQ(session_->Profile()[1].tier, 0);
  EXPECT_THAT(
      tiering_->slot(1)->decline_reasons(),
      ElementsAre(AllOf(
          HasSubstr("differs: the kernel was withdrawn, as a result differed "
                    "from tier 0's: tier 2 with N=1: %y[0, 0]: got 1.625, "
                    "want 0.625; 1 of 2 elements differ, by up to 1; see "),
          HasSubstr(Folder()))));
  ASSERT_EQ(shadow_->findings().size(), 1u);
  const std::string folder = Folder() + "/bias_relu.tier2";
  EXPECT_EQ(shadow_->findings()[0].folder, folder);
  const StatusOr<Repro> repro = ReadRepro(folder);
  ASSERT_TRUE(repro.ok()) << repro.status().ToString();
  EXPECT_EQ(tensor::Print(repro->dispatch),
            tensor::Print(module_->definition().dispatches[1]));
  EXPECT_EQ(repro->tier, 2);
  EXPECT_EQ(repro->threads, 1);
  EXPECT_TRUE(repro->is_specialised);
  EXPECT_THAT(repro->parameters, ElementsAre(1));
  EXPECT_THAT(repro->constant_inputs, ElementsAre(false, true));
  EXPECT_THAT(repro->shared, ElementsAre(0));
  // The second dispatch writes its output over its operand. The repro must have
  // the operand's values from before the call.
  EXPECT_THAT(repro->inputs[0].elements<float>(), ElementsAre(0.5f, 0.5f));
  EXPECT_THAT(repro->want[0].elements<float>(), ElementsAre(0.625f, 0));
  EXPECT_EQ(repro->schedule, "the schedule");
  EXPECT_EQ(*ReadFile(folder + "/bias_relu.loops"), "the nest");
  EXPECT_THAT(*ReadFile(folder + "/README.txt"),
              HasSubstr("vm-diff --repro=" + folder));
  EXPECT_TRUE(std::filesystem::exists(folder + "/got_0.npy"));
  const vm::KernelRequest request = RequestOf(*repro, "here");
  EXPECT_EQ(request.constant_data[0].size(), 0u);
  EXPECT_EQ(request.constant_data[1].size(), 8u);
  EXPECT_THAT(request.parameters, ElementsAre(1));
}

TEST_F(ShadowTest, AnotherKernelOfTheSiteIsTriedAndFoldersDoNotMix) {
  Start("gemm", AddOneToFirst, [](const vm::KernelCall&) { return true; });
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  EXPECT_THAT(Run(*session_, 2, 2), ElementsAre(0.625f, 0, 0.625f, 0));
  ASSERT_EQ(shadow_->findings().size(), 2u) << shadow_->Text();
  EXPECT_EQ(shadow_->findings()[1].folder, Folder() + "/gemm.tier2.2");
}

FaultyKernel::Applies FirstAbove(float limit) {
  return [limit](const vm::KernelCall& call) {
    return static_cast<const float*>(call.buffers[0])[0] > limit;
  };
}

TEST_F(ShadowTest, WrongForSomeInputsOnly) {
  Start("gemm", AddOneToFirst, FirstAbove(1.5f));
  EXPECT_THAT(Run(*session_, 1), ElementsAre(0, 2));
  EXPECT_TRUE(shadow_->findings().empty());
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  ASSERT_EQ(shadow_->findings().size(), 1u);
  EXPECT_THAT(
      ReadRepro(shadow_->findings()[0].folder)->inputs[0].elements<float>(),
      ElementsAre(2, 1, 2));
}

TEST_F(ShadowTest, LaterCallsAreCheckedIfAsked) {
  for (const int64_t runs : {1, 0}) {
    Start("gemm", AddOneToFirst, FirstAbove(1.5f), runs);
    for (int i = 0; i < 20; ++i) Run(*session_, 1);
    const bool is_right = Run(*session_, 2) == std::vector<float>({0.625f, 0});
    EXPECT_EQ(is_right, runs == 0);
    EXPECT_EQ(shadow_->findings().size(), runs == 0 ? 1u : 0u);
  }
}

TEST_F(ShadowTest, AChangedInputIsADifference) {
  Start(
      "gemm",
      [](const vm::KernelCall& call) {
        static_cast<float*>(call.buffers[0])[2] = 77;
      },
      [](const vm::KernelCall&) { return true; });
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  ASSERT_EQ(shadow_->findings().size(), 1u);
  EXPECT_EQ(shadow_->findings()[0].difference, "its input %x was changed");
}

TEST_F(ShadowTest, AnErrorThatTierZeroDoesNotGive) {
  Start("gemm", [this](std::unique_ptr<vm::Kernel>) {
    return std::make_unique<FailingKernel>(module_->definition().dispatches[0],
                                           2);
  });
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  ASSERT_EQ(shadow_->findings().size(), 1u);
  EXPECT_THAT(shadow_->findings()[0].difference,
              HasSubstr("no luck, want success"));
  EXPECT_FALSE(
      std::filesystem::exists(shadow_->findings()[0].folder + "/got_0.npy"));
}

TEST_F(ShadowTest, WithoutAPlaceForIt) {
  ASSERT_TRUE(WriteFileAtomically(Folder(), "in the way").ok());
  Start("gemm", AddOneToFirst, FirstAbove(0));
  EXPECT_THAT(Run(*session_, 2), ElementsAre(0.625f, 0));
  EXPECT_THAT(shadow_->Text(), HasSubstr("; no repro: cannot make a folder"));
}

TEST_F(ShadowTest, ManySessionsAtOnce) {
  Start("bias_relu", AddOneToFirst, FirstAbove(0), /*runs=*/0);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto session = NewSession(tiering_);
      for (int i = 0; i < 50; ++i)
        wrong += Run(*session, 2) != std::vector<float>({0.625f, 0});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(shadow_->findings().size(), 1u) << shadow_->Text();
}

TEST(ReproTest, EveryTypeComesBack) {
  const std::string folder = testing::TempDir() + "/every_type";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Repro repro;
  repro.dispatch = *tensor::Parse(
      "dispatch @f(%a: bf16[2], %b: f16[2], %c: bool[2]) -> (%y: bf16[2]) {\n"
      "  %y[i] = select(%c[i], %a[i], bf16(%b[i]))\n}\n");
  for (const tensor::Buffer& buffer : repro.dispatch.buffers) {
    vm::Tensor tensor = *vm::Tensor::Allocate(buffer.type, {2});
    if (buffer.type == DType::kBool) {
      SetIntegerElement(tensor, 1, 1);
    } else {
      SetFloatElement(tensor, 1, -1.5);
    }
    (buffer.kind == tensor::BufferKind::kInput ? repro.inputs : repro.want)
        .push_back(tensor);
  }
  ASSERT_TRUE(WriteRepro(repro, folder).ok());
  const StatusOr<Repro> read = ReadRepro(folder);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->inputs.size(), 3u);
  EXPECT_EQ(read->inputs[0].type, DType::kBF16);
  EXPECT_EQ(FloatElement(read->inputs[0], 1), -1.5);
  EXPECT_EQ(read->inputs[1].type, DType::kF16);
  EXPECT_EQ(read->inputs[2].type, DType::kBool);
  EXPECT_EQ(read->want[0].type, DType::kBF16);
  ASSERT_TRUE(WriteFileAtomically(folder + "/call.txt", "nonsense").ok());
  EXPECT_EQ(ReadRepro(folder).status().message(),
            folder + "/call.txt: expected 'ember repro 1', found 'nonsense'");
}

}  // namespace
}  // namespace ember::tools
