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

namespace ember::jit::spirv {
namespace {

TEST(SpirvRandomTest, Nests) {
  if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  const tensor::SeedRange seeds = tensor::Seeds(30);
  int failed_checks = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel run //jit/spirv:random_test");
    const loops::RandomNest random = loops::MakeRandomNest(
        seed, {.float_remainders = false, .simplify = seed % 2 == 0});
    Bytes expected = random.MakeBuffers(), actual = random.MakeBuffers();
    const Status wanted = loops::Evaluate(random.nest, random.parameters,
                                          tensor::Pointers(expected));
    const Status status = RunOnDevice(random.nest, random.parameters, actual);
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
  std::printf("seeds %llu..%llu: %d with a failed check\n",
              static_cast<unsigned long long>(seeds.begin),
              static_cast<unsigned long long>(seeds.end - 1), failed_checks);
}

}  // namespace
}  // namespace ember::jit::spirv
