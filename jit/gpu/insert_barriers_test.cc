// Tests that device nests have the barriers that they need. For kernels of
// several kinds, made by the default schedules of two devices, the evaluator of
// nests finds no race, and finds one if a barrier is removed. Buffers that
// share bytes of the workgroup's memory share them in the evaluator, too.
#include "jit/gpu/insert_barriers.h"

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/gpu/device_passes.h"
#include "jit/gpu/testing/barriers.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/ptx/target.h"
#include "jit/spirv/target.h"
#include "tensor/testing/random_values.h"
#include "tensor/text/text.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::gpu {
namespace {

using ::testing::HasSubstr;

constexpr char kVulkan[] = "vulkan1.3+subgroup32+shared49152";
constexpr char kCuda[] = "sm_80+subgroup32+shared166912";
constexpr char kBoxes[] =
    "sm_90a+subgroup32+shared232448+invocations1024+processors132+tensor_maps";

struct Kind {
  const char* name;
  const char* target;
  const char* dispatch;  // text of a dispatch, which gets the default schedule,
                         // or of a nest
};

constexpr char kSoftmax[] = R"(
  dispatch @softmax(%x: f32[4, 2000]) -> (%y: f32[4, 2000]) {
    temp %most: f32[4]
    temp %e: f32[4, 2000]
    temp %sum: f32[4]
    %most[i] = maximum(k < 2000) %x[i, k]
    %e[i, j] = exp(%x[i, j] - %most[i])
    %sum[i] = sum(k < 2000) %e[i, k]
    %y[i, j] = %e[i, j] / %sum[i]
  })";
constexpr char kCentred[] = R"(
  dispatch @centred(%x: f32[8, 1024]) -> (%y: f32[8, 1024]) {
    temp %sum: f32[8]
    %sum[i] = sum(k < 1024) %x[i, k]
    %y[i, j] = %x[i, j] - %sum[i] / 1024.0
  })";
constexpr char kProduct[] = R"(
  dispatch @product(%a: f32[128, 64], %b: f32[64, 128]) -> (%y: f32[128, 128]) {
    %y[i, j] = sum(k < 64) %a[i, k] * %b[k, j]
  })";
constexpr char kHalves[] = R"(
  dispatch @halves(%a: f16[256, 64], %b: f16[64, 256]) -> (%y: f32[256, 256]) {
    %y[i, j] = sum(k < 64) f32(%a[i, k]) * f32(%b[k, j])
  })";
constexpr char kManySteps[] = R"(
  dispatch @many_steps(%a: f16[64, 320], %b: f16[320, 128]) -> (%y: f32[64, 128]) {
    %y[i, j] = sum(k < 320) f32(%a[i, k]) * f32(%b[k, j])
  })";
constexpr char kLongSums[] = R"(
  dispatch @long_sums(%a: f32[8, 8192], %b: f32[8192, 8]) -> (%y: f32[8, 8]) {
    %y[i, j] = sum(k < 8192) %a[i, k] * %b[k, j]
  })";
constexpr char kNormalised[] = R"(
  dispatch @normalised(%x: f32[4, 2000]) -> (%y: f32[4, 2000]) {
    temp %sum: f32[4]
    temp %centred: f32[4, 2000]
    temp %squares: f32[4]
    %sum[i] = sum(k < 2000) %x[i, k]
    %centred[i, j] = %x[i, j] - %sum[i] / 2000.0
    %squares[i] = sum(k < 2000) %centred[i, k] * %centred[i, k]
    %y[i, j] = %centred[i, j] / sqrt(%squares[i] / 2000.0 + 0.001)
  })";
constexpr char kTransposed[] = R"(
  dispatch @transposed(%x: f16[512, 512]) -> (%y: f16[512, 512]) {
    %y[i, j] = %x[j, i]
  })";
constexpr char kAttention[] = R"(
  dispatch @attention(%q: f16[1, 64, 64], %k: f16[1, 128, 64], %v: f16[1, 128, 64]) -> (%y: f32[1, 64, 64]) {
    temp %scores: f32[1, 64, 128]
    temp %most: f32[1, 64]
    temp %e: f32[1, 64, 128]
    temp %sum: f32[1, 64]
    temp %p: f16[1, 64, 128]
    temp %z: f32[1, 64, 64]
    %scores[h, i, j] = sum(d < 64) f32(%q[h, i, d]) * f32(%k[h, j, d])
    %most[h, i] = maximum(j < 128) %scores[h, i, j]
    %e[h, i, j] = exp(%scores[h, i, j] - %most[h, i])
    %sum[h, i] = sum(j < 128) %e[h, i, j]
    %p[h, i, j] = f16(%e[h, i, j] / %sum[h, i])
    %z[h, i, d] = sum(j < 128) f32(%p[h, i, j]) * f32(%v[h, j, d])
    %y[h, i, d] = %z[h, i, d]
  })";

// A nest in which the producer warp copies slices of both factors of a product
// as boxes.
constexpr char kRing[] =
    R"(loops @t(%a: input f16[64, 512], %b: input f16[512, 128], %y: output f32[64, 128]) {
  task %as: f16[4, 64, 64]
  task %bs: f16[4, 64, 128]
  register %sum: f32[4, 16, 128]
  phase t < 1 {
    subgroup s < 4 { matrix m < 16 { matrix n < 128 { %sum[s, m, n] = 0.0 } } }
    invocation i < 128 { unroll r < 4 { vector v < 8 {
      async %as[0, floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v] =
          %a[floordiv(i, 8) + r * 16, 0 + mod(i, 8) * 8 + v]
    } } }
    invocation i < 128 { unroll r < 8 { vector v < 8 {
      async %bs[0, floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v] =
          %b[0 + floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v]
    } } }
    await 1
    invocation i < 128 { unroll r < 4 { vector v < 8 {
      async %as[1, floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v] =
          %a[floordiv(i, 8) + r * 16, 64 + mod(i, 8) * 8 + v]
    } } }
    invocation i < 128 { unroll r < 8 { vector v < 8 {
      async %bs[1, floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v] =
          %b[64 + floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v]
    } } }
    for k < 8 {
      await 1
      subgroup s < 4 { matrix m < 16 { matrix n < 128 { matrix d < 16 {
        %sum[s, m, n] += f32(%as[mod(k, 4), s * 16 + m, d]) * f32(%bs[mod(k, 4), d, n])
      } } } }
      if k + 2 < 8 {
    invocation i < 128 { unroll r < 4 { vector v < 8 {
      async %as[mod(k + 2, 4), floordiv(i, 8) + r * 16, mod(i, 8) * 8 + v] =
          %a[floordiv(i, 8) + r * 16, k * 64 + 128 + mod(i, 8) * 8 + v]
    } } }
    invocation i < 128 { unroll r < 8 { vector v < 8 {
      async %bs[mod(k + 2, 4), floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v] =
          %b[k * 64 + 128 + floordiv(i, 16) + r * 8, mod(i, 16) * 8 + v]
    } } }
      }
    }
    subgroup s < 4 { matrix m < 16 { matrix n < 128 { %y[s * 16 + m, n] = %sum[s, m, n] } } }
  }
})";

constexpr Kind kKinds[] = {
    {"points in rows", kVulkan, kCentred},
    {"points in rows", kCuda, kCentred},
    {"row reduction", kVulkan, kSoftmax},
    {"row reduction", kCuda, kSoftmax},
    {"two reductions of a row", kVulkan, kNormalised},
    {"two reductions of a row", kCuda, kNormalised},
    {"tiles of a product", kVulkan, kProduct},
    {"tiles of a product, asynchronous copies", kCuda, kProduct},
    {"double buffer", kVulkan, kHalves},
    {"double buffer of matrices, asynchronous copies", kCuda, kHalves},
    {"split-K", kVulkan, kLongSums},
    {"split-K, asynchronous copies", kCuda, kLongSums},
    {"transposed tile", kVulkan, kTransposed},
    {"transposed tile", kCuda, kTransposed},
    {"attention", kVulkan, kAttention},
    {"attention, asynchronous copies", kCuda, kAttention},
};

// Kernels that wait for copies. In the first three each invocation awaits its
// own copies. In the last one, consumers wait for the boxes of a producer warp.
constexpr Kind kWithWaits[] = {
    {"tiles of a product, asynchronous copies", kCuda, kProduct},
    {"double buffer of matrices, asynchronous copies", kCuda, kManySteps},
    {"attention, asynchronous copies", kCuda, kAttention},
    {"slots of rings, filled by a warp of its own", kBoxes, kRing},
};

StatusOr<loops::LoopNest> NestOf(const Kind& kind) {
  if (std::string_view(kind.dispatch).starts_with("loops"))
    return loops::Parse(kind.dispatch);
  EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch,
                         tensor::Parse(kind.dispatch));
  vm::KernelRequest request;
  request.dispatch = &dispatch;
  request.target = kind.target;
  request.tier = 2;
  return BuildNest(request, {}, nullptr);
}

loops::LoopNest WithBarriers(const loops::LoopNest& nest,
                             const std::string& target) {
  DeviceTraits device;
  if (target.starts_with("sm_"))
    device = ptx::Target::Of(target);
  else
    device = spirv::Target::Of(target);
  loops::LoopNest result = nest;
  const Status status = MakeDeviceNest(device, result);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return result;
}

Status Evaluate(const loops::LoopNest& nest, Bytes& buffers) {
  buffers = SmallContents(nest, {});
  return loops::Evaluate(nest, {}, tensor::Pointers(buffers),
                         {.is_device = true});
}

Status Evaluate(const loops::LoopNest& nest) {
  Bytes buffers;
  return Evaluate(nest, buffers);
}

// Counts the barriers or waits that a test removed, one at a time.
struct Outcome {
  size_t removed = 0;
  // Number of removals that the test noticed: the evaluator found a race or a
  // wrong order of steps, or results changed. A removal is not noticed where
  // each invocation accesses only elements that it stored itself: the barrier
  // is planned per buffer, not per element.
  size_t caught = 0;

  void Add(const Outcome& other) {
    removed += other.removed;
    caught += other.caught;
  }
};

void Print(const std::string& what, const Outcome& outcome) {
  std::printf("%-60s %2zu removed, %2zu caught, %zu harmless\n", what.c_str(),
              outcome.removed, outcome.caught,
              outcome.removed - outcome.caught);
}

Outcome RemoveEach(const Kind& kind) {
  Outcome outcome;
  const auto plain = NestOf(kind);
  EXPECT_TRUE(plain.ok()) << plain.status().ToString();
  if (!plain.ok()) return outcome;
  const loops::LoopNest nest = WithBarriers(*plain, kind.target);
  const std::string text = loops::ToText(nest);
  const auto parsed = loops::Parse(text);
  EXPECT_TRUE(parsed.ok() && loops::ToText(*parsed) == text) << text;
  const Status verified = loops::Verify(nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString() << "\n" << text;
  const Status complete = Evaluate(nest);
  EXPECT_TRUE(complete.ok()) << complete.ToString() << "\n" << text;
  outcome.removed = CountBarriers(nest);
  for (size_t i = 0; i < outcome.removed; ++i) {
    const Status status = Evaluate(WithoutBarrier(nest, i));
    if (status.ok()) continue;
    EXPECT_THAT(status.message(),
                HasSubstr("invocations that have not synchronised"));
    ++outcome.caught;
  }
  return outcome;
}

TEST(InsertBarriers, NoneIsLeftOut) {
  Outcome all;
  for (const Kind& kind : kKinds) {
    const Outcome outcome = RemoveEach(kind);
    Print(Concat({kind.name, ", ", kind.target}), outcome);
    EXPECT_GT(outcome.caught, 0u) << kind.name << ", " << kind.target;
    all.Add(outcome);
  }
  Print("all", all);
  EXPECT_LE(4 * (all.removed - all.caught), all.removed);
}

// Removes each wait of a kernel, one at a time. Returns how many waits there
// are, and for how many of them the evaluator detects that the wait is missing.
Outcome RemoveEachWait(const Kind& kind) {
  Outcome outcome;
  const auto plain = NestOf(kind);
  EXPECT_TRUE(plain.ok()) << plain.status().ToString();
  if (!plain.ok()) return outcome;
  const loops::LoopNest nest = WithBarriers(*plain, kind.target);
  const std::string text = loops::ToText(nest);
  const auto parsed = loops::Parse(text);
  EXPECT_TRUE(parsed.ok() && loops::ToText(*parsed) == text) << text;
  const Status verified = loops::Verify(nest);
  EXPECT_TRUE(verified.ok()) << verified.ToString() << "\n" << text;
  Bytes expected;
  const Status complete = Evaluate(nest, expected);
  EXPECT_TRUE(complete.ok()) << complete.ToString() << "\n" << text;
  outcome.removed = CountWaits(nest);
  for (size_t i = 0; i < outcome.removed; ++i) {
    Bytes found;
    const Status status = Evaluate(WithoutWait(nest, i), found);
    outcome.caught += static_cast<size_t>(!status.ok() || found != expected);
  }
  return outcome;
}

TEST(InsertBarriers, NoWaitIsLeftOut) {
  Outcome all;
  for (const Kind& kind : kWithWaits) {
    const Outcome outcome = RemoveEachWait(kind);
    Print(Concat({kind.name, ", ", kind.target}), outcome);
    EXPECT_GT(outcome.caught, 0u) << kind.name << ", " << kind.target;
    all.Add(outcome);
  }
  Print("all", all);
  EXPECT_LE(4 * (all.removed - all.caught), all.removed);
}

// A second run of the pass changes nothing, because the nest has barriers.
TEST(InsertBarriers, OnlyOnce) {
  const auto plain = NestOf(kKinds[0]);
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  loops::LoopNest nest = WithBarriers(*plain, kVulkan);
  const std::string text = loops::ToText(nest);
  EXPECT_EQ(loops::ToText(WithBarriers(nest, kVulkan)), text);
  EXPECT_THAT(text, HasSubstr("barrier\n"));
}

}  // namespace
}  // namespace ember::jit::gpu
