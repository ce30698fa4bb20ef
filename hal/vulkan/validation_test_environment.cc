// Fails a test program in which Vulkan's validation layer had something to say.
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
