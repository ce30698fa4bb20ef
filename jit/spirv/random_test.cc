// Random loop nests on a device against the evaluator of nests.
//
//   EMBER_SEEDS=1000 bazel run //jit/spirv:random_test
#include <cstdio>
#include <string>

#include "gtest/gtest.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/random_nest.h"
#include "jit/loops/text.h"
#include "jit/spirv/testing.h"
#include "jit/spirv/tools.h"

namespace ember::jit::spirv {
namespace {

// Whether the device's module has instructions for dot loops.
bool HasDots(const loops::LoopNest& nest) {
  const auto code = Emit(nest);
  return code.ok() &&
         DisassembleModule(code->words).find("SPV_KHR_integer_dot_product") !=
             std::string::npos;
}

TEST(SpirvRandomTest, Nests) {
  if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  const tensor::SeedRange seeds = tensor::Seeds(16);
  int failed_checks = 0, dots = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel run //jit/spirv:random_test");
    const loops::RandomNest random = loops::MakeRandomNest(
        seed, {.float_remainders = false,
               .bits_as_floats = KeepsSubnormals(),
               .simplify = seed % 2 == 0,
               .matrices = std::vector<loops::MatrixType>()});
    Bytes expected = random.MakeBuffers(), actual = random.MakeBuffers();
    const Status wanted = loops::Evaluate(random.nest, random.parameters,
                                          tensor::Pointers(expected));
    // Other code for dot loops of two signs; the other memory model.
    std::string target =
        seed % 3 == 0 ? TestTarget() + "+fast_dot" : TestTarget();
    if (seed % 4 == 1) target = Without(target, "vulkan_memory_model");
    const Status status =
        RunOnDevice(random.nest, random.parameters, actual, target);
    dots += HasDots(random.nest);
    ASSERT_EQ(wanted.ok(), status.ok())
        << wanted.ToString() << " / " << status.ToString() << "\n"
        << loops::ToText(random.nest);
    failed_checks += !wanted.ok();
    if (!wanted.ok()) {
      ASSERT_EQ(status.code(), wanted.code()) << status.ToString();
      continue;
    }
    ASSERT_EQ(loops::FirstDifference(random, expected, actual), "")
        << loops::ToText(random.nest);
  }
  if (seeds.end - seeds.begin >= 16) {
    EXPECT_GE(dots, 1);
  }
  std::printf(
      "seeds %llu..%llu: %d with a failed check, %d with instructions for dot "
      "loops\n",
      static_cast<unsigned long long>(seeds.begin),
      static_cast<unsigned long long>(seeds.end - 1), failed_checks, dots);
}

}  // namespace
}  // namespace ember::jit::spirv
