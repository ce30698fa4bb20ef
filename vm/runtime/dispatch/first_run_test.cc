#include "vm/runtime/dispatch/first_run.h"

#include <sys/resource.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "vm/isa/text.h"
#include "vm/runtime/memory/scratch_blocks.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

constexpr std::string_view kDispatches = R"(
module "by hand" from "first run"
dispatch @copy(%x: f32[4]) -> (%y: f32[4]) {
  %y[i] = %x[i]
}
dispatch @open<N>(%x: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i]
}
)";

std::shared_ptr<const Module> ModuleOf(std::string_view signature,
                                       std::string_view body) {
  StatusOr<ModuleDefinition> definition =
      ParseModule(std::string(kDispatches) + "program main" +
                  std::string(signature) + " {" + std::string(body) + "}");
  EXPECT_TRUE(definition.ok()) << definition.status().ToString();
  StatusOr<std::shared_ptr<const Module>> module =
      Module::FromDefinition(*std::move(definition));
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return *module;
}

constexpr std::string_view kStatic = "(x: f32[4]) -> (y: f32[4])";

StatusOr<std::unique_ptr<Session>> Create(std::shared_ptr<const Module> module,
                                          SessionOptions options = {}) {
  options.device = *hal::CreateCpuDevice({.threads = 1});
  if (options.tiering == nullptr) {
    options.tiering =
        std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
  }
  options.tiering->set_preparation(PrepareFirstRun);
  return Session::Create(std::move(module), options);
}

// Number of bytes that a plan of @copy or @open charges for its own lists
// (OwnBytes in vm/interpreter/plan_builder.cc); they are not part of the pool's
// blocks.
constexpr int64_t kPlanBytes = 3328;

// Returns the number of bytes of the pool's blocks after the session was
// created, and after a run.
std::pair<int64_t, int64_t> PoolBytes(
    const std::shared_ptr<const Module>& module) {
  const std::unique_ptr<Session> session = *Create(module);
  const int64_t before = session->memory().pool_bytes;
  const Tensor x = *Tensor::Allocate(DType::kF32, {4});
  std::vector<Tensor> results;
  const Status status = session->Run({&x, 1}, &results);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return {before, session->memory().pool_bytes - kPlanBytes};
}

// The program releases, overwrites and moves blocks. Before the run these
// blocks must be reused in the same way as in the run. A view keeps its block
// in use.
constexpr std::string_view kStraight = R"(
  i0 = integer 1024
  i1 = integer 1024
  i2 = mul i0, i1
  i3 = integer 16
  i4 = integer 4
  b0 = input x
  b1 = allocate i2
  dispatch @copy(b0 -> b1)
  release b1
  b2 = allocate i2
  b3 = view b2, i3, 64
  b2 = allocate i2
  dispatch @copy(b0 -> b3)
  b4 = move_buffer b2
  b2 = allocate i2
  dispatch @copy(b3 -> b2)
  result y = b2 [i4]
  return
)";

TEST(FirstRunTest, BlocksOfStaticShapesAreThereAndNoMore) {
  const auto [before, after] = PoolBytes(ModuleOf(kStatic, kStraight));
  EXPECT_EQ(before, 3 << 20);
  EXPECT_EQ(after, before);
}

// The first run must not cause page faults for the blocks, because creating the
// session has brought in their pages. Linux cannot do that before version 5.14,
// but the run writes only a few of the pages, so it causes few faults there,
// too.
TEST(FirstRunTest, TheRunBringsNoPages) {
  const std::unique_ptr<Session> session =
      *Create(ModuleOf(kStatic, kStraight));
  const Tensor x = *Tensor::Allocate(DType::kF32, {4});
  std::vector<Tensor> results;
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const auto before = faults();
  ASSERT_TRUE(session->Run({&x, 1}, &results).ok());
  // The blocks have 768 pages. The faults that are counted come from code and
  // other memory.
  EXPECT_LT(faults() - before, 200);
}

TEST(FirstRunTest, WhatDependsOnDataIsLeftToTheRun) {
  constexpr std::string_view kBranches = R"(
  i0 = integer 16
  i1 = integer 4
  i2 = integer 1048576
  b0 = input x
  b1 = allocate i0
  dispatch @copy(b0 -> b1)
  i3 = load_integer b1, i32, 0
  branch_if i3, L9
  b2 = allocate i2
L9:
  result y = b1 [i1]
  return
)";
  const auto [before, after] = PoolBytes(ModuleOf(kStatic, kBranches));
  EXPECT_EQ(before, 256);  // The pool has one block, of the smallest size: only
                           // the allocation before the branch can be predicted.
  EXPECT_EQ(after, 256 + (1 << 20));
}

TEST(FirstRunTest, OpenDimsAreLeftToTheRun) {
  constexpr std::string_view kOpen = R"(
  i0 = integer 4
  b0 = input x
  b1 = allocate i0
  i1 = input_dim x, 0
  i2 = mul i0, i1
  b2 = allocate i2
  dispatch @open(i1; b0 -> b2)
  result y = b2 [i1]
  return
)";
  const auto [before, after] =
      PoolBytes(ModuleOf("<N>(x: f32[N]) -> (y: f32[N])", kOpen));
  EXPECT_EQ(before, 256);
  EXPECT_EQ(after, 512);
}

// If memory is refused, creating the session must succeed, and the run must
// report the error.
TEST(FirstRunTest, TooMuchIsLeftToTheRun) {
  const auto session =
      Create(ModuleOf(kStatic, kStraight), {.memory_limit = 2 << 20});
  ASSERT_TRUE(session.ok()) << session.status().ToString();
  const Tensor x = *Tensor::Allocate(DType::kF32, {4});
  std::vector<Tensor> results;
  EXPECT_EQ((*session)->Run({&x, 1}, &results).code(),
            StatusCode::kResourceExhausted);
}

class HungryKernel final : public HostKernel {
 public:
  HungryKernel(int tier, int64_t bytes) : tier_(tier), bytes_(bytes) {}
  int tier() const override { return tier_; }
  bool Accepts(std::span<const int64_t>) const override { return true; }
  Status Run(const KernelCall&) const override { return OkStatus(); }
  int64_t TemporaryBytes(int workers) const override {
    return bytes_ * workers;
  }
  bool is_settled() const override { return true; }
  std::string Describe() const override { return "hungry"; }

 private:
  const int tier_;
  const int64_t bytes_;
};

// Temporaries must be allocated in advance for the kernel that the run will
// use, unless a limit forbids them.
TEST(FirstRunTest, TemporariesOfKernelsAreThere) {
  constexpr int64_t kBytes = 1 << 20;
  const std::shared_ptr<ScratchBlocks> blocks = ScratchBlocks::Shared();
  const auto module = ModuleOf(kStatic, R"(
  i0 = integer 4
  b0 = input x
  b1 = arena 64
  dispatch @copy(b0 -> b1)
  result y = b1 [i0]
  return
)");
  SessionOptions options;
  options.tiering =
      std::make_shared<Tiering>(module, nullptr, Tiering::Options{});
  options.tiering->slot(0)->Install(
      std::make_unique<HungryKernel>(1, 16 * kBytes));
  options.tiering->slot(0)->Install(std::make_unique<HungryKernel>(2, kBytes));
  options.memory_limit = kBytes / 2;
  ASSERT_TRUE(Create(module, options).ok());
  EXPECT_EQ(blocks->made_bytes(), 0);
  options.memory_limit = 0;
  ASSERT_TRUE(Create(module, options).ok());
  EXPECT_EQ(blocks->made_bytes(), kBytes);
  // Another session needs no further block, because all sessions of a process
  // share the blocks for temporaries.
  ASSERT_TRUE(Create(module, options).ok());
  EXPECT_EQ(blocks->made_bytes(), kBytes);
}

}  // namespace
}  // namespace ember::vm
