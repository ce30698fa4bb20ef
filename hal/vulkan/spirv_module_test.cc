#include "hal/vulkan/spirv_module.h"

#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hal/conformance/kernels.h"

namespace ember::hal::vulkan {
namespace {

std::vector<uint32_t> ScaleWords() {
  const KernelCode code(Kernel::kScale, "spirv");
  const std::span<const uint8_t> bytes = code.definition().code;
  const uint32_t* const words = reinterpret_cast<const uint32_t*>(bytes.data());
  return {words, words + bytes.size() / 4};
}

std::string Error(const std::vector<uint32_t>& words, const char* entry_point) {
  return std::string(InspectSpirv(words, entry_point).status().message());
}

TEST(SpirvModuleTest, FindsWhatMatters) {
  const auto module = InspectSpirv(ScaleWords(), "scale");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->version, 0x00010300u);
  EXPECT_EQ(
      module->capabilities,
      std::vector<uint32_t>{static_cast<uint32_t>(spv::Capability::Shader)});
  EXPECT_EQ(module->workgroup, (std::array<uint32_t, 3>{1, 1, 1}));
}

TEST(SpirvModuleTest, SaysWhatIsWrong) {
  const std::vector<uint32_t> good = ScaleWords();
  EXPECT_EQ(Error({}, "scale"),
            "expected SPIR-V, which starts with 0x07230203, found something "
            "else");
  EXPECT_EQ(Error(good, "scalE"),
            "expected a compute shader 'scalE' in the module, found none");
  std::vector<uint32_t> swapped = good;
  for (uint32_t& word : swapped) word = __builtin_bswap32(word);
  EXPECT_FALSE(InspectSpirv(swapped, "scale").ok());
  std::vector<uint32_t> stuck = good;
  // The upper half of an instruction's first word is its length. It becomes 0,
  // with which a reader could loop forever.
  stuck[5] &= 0xffff;
  EXPECT_EQ(Error(stuck, "scale"),
            "expected SPIR-V, found an instruction of 0 words at word 5 of " +
                std::to_string(good.size()));
}

// A module that is cut off anywhere, or has any word changed, must be inspected
// without a read out of bounds (AddressSanitizer checks that); the result is a
// module or an error.
TEST(SpirvModuleTest, DamageIsHarmless) {
  const std::vector<uint32_t> good = ScaleWords();
  int refused = 0;
  for (size_t size = 0; size < good.size(); ++size) {
    refused += !InspectSpirv(std::vector<uint32_t>(
                                 good.begin(),
                                 good.begin() + static_cast<int64_t>(size)),
                             "scale")
                    .ok();
    for (uint32_t word : {0u, 0xffffffffu, 0x00010000u, good[size] ^ 0x10000}) {
      std::vector<uint32_t> damaged = good;
      damaged[size] = word;
      static_cast<void>(InspectSpirv(damaged, "scale"));
    }
  }
  EXPECT_GT(refused, static_cast<int>(good.size() / 2));
}

}  // namespace
}  // namespace ember::hal::vulkan
