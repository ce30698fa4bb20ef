// One call into every library that this project takes from the system.
#include "third_party/smoke/smoke.h"

#include <vulkan/vulkan.h>

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/TargetParser/Host.h"
#include "nlohmann/json.hpp"
#include "spirv-tools/libspirv.hpp"
#include "third_party/onnx/onnx.pb.h"
#include "third_party/smoke/smoke_generated.h"

namespace ember::smoke {
namespace {

TEST(SmokeTest, Flatbuffers) {
  std::vector<uint8_t> bytes;
  EXPECT_EQ(RoundTrip(42, &bytes), 42);
  EXPECT_EQ(GetMessage(bytes.data())->chunk()->v(), 7u);
}

TEST(SmokeTest, SubclassAcrossLibraries) {
  class Impl : public Interface {
   public:
    int Id() const override { return 3; }
  };
  EXPECT_EQ(Impl().Id(), 3);
}

TEST(SmokeTest, Abseil) {
  absl::StatusOr<int> bad = absl::NotFoundError("nothing");
  EXPECT_EQ(bad.status().message(), "nothing");
  absl::flat_hash_map<std::string, int> map{{absl::StrCat("a", 1), 1}};
  EXPECT_THAT(map, testing::ElementsAre(testing::Pair("a1", 1)));
}

TEST(SmokeTest, Llvm) {
  EXPECT_EQ(LLVM_VERSION_MAJOR, 19);
  EXPECT_FALSE(llvm::sys::getDefaultTargetTriple().empty());
}

TEST(SmokeTest, Json) {
  EXPECT_EQ(nlohmann::json::parse("{\"a\": [1, 2]}")["a"][1], 2);
}

TEST(SmokeTest, VulkanAndSpirv) {
  EXPECT_GE(VK_HEADER_VERSION, 239);
  EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_VULKAN_1_2).IsValid());
}

TEST(SmokeTest, Onnx) {
  onnx::ModelProto model;
  model.set_ir_version(11);
  onnx::TensorProto* weight = model.mutable_graph()->add_initializer();
  weight->set_data_type(onnx::TensorProto::FLOAT4E2M1);
  weight->set_raw_data(std::string(2, '\x12'));
  onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->set_overload("v2");
  // A field that our schema leaves out survives: NodeProto field 10.
  std::string bytes = node->SerializeAsString() + std::string("\x52\x01z");
  ASSERT_TRUE(node->ParseFromString(bytes));
  EXPECT_EQ(node->SerializeAsString(), bytes);

  onnx::ModelProto copy;
  ASSERT_TRUE(copy.ParseFromString(model.SerializeAsString()));
  EXPECT_EQ(copy.graph().initializer(0).data_type(),
            onnx::TensorProto::FLOAT4E2M1);
  EXPECT_EQ(copy.graph().node(0).overload(), "v2");
}

}  // namespace
}  // namespace ember::smoke
