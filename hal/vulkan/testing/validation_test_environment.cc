// Makes a test program fail if Vulkan's validation layer reported a message.
#include "gtest/gtest.h"
#include "hal/vulkan/validation.h"

namespace ember::hal::vulkan {
namespace {

class NoMessages final : public testing::Environment {
 public:
  void TearDown() override {
    EXPECT_EQ(ValidationMessageCount(), 0)
        << "messages of Vulkan's validation layer, printed above";
  }
};

[[maybe_unused]] testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new NoMessages);

}  // namespace
}  // namespace ember::hal::vulkan

// Suppresses ThreadSanitizer's reports about the validation layer, which takes
// its own locks in different orders.
extern "C" const char* __tsan_default_suppressions() {
  return "deadlock:libVkLayer_khronos_validation.so\n";
}
