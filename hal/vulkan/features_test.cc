#include "hal/vulkan/features.h"

#include <set>
#include <spirv/unified1/spirv.hpp11>

#include "gtest/gtest.h"

namespace ember::hal::vulkan {
namespace {

TEST(FeaturesTest, EachRowIsOneThing) {
  std::set<std::string_view> names;
  FeatureSet set;
  for (const Feature& feature : AllFeatures()) {
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_FALSE(feature.doc.empty()) << feature.name;
    EXPECT_NE(feature.bit == nullptr, feature.property == nullptr)
        << feature.name;
    EXPECT_FALSE(feature.IsIn(set)) << feature.name;
    if (feature.bit == nullptr) continue;
    // A feature must be present exactly if the bit of its row is set.
    feature.bit(set) = VK_TRUE;
    EXPECT_TRUE(feature.IsIn(set)) << feature.name;
    feature.bit(set) = VK_FALSE;
  }
}

TEST(FeaturesTest, TargetsNameWhatIsThere) {
  FeatureSet set;
  set.properties.properties.apiVersion = VK_API_VERSION_1_2;
  set.properties.properties.limits.maxComputeSharedMemorySize = 32768;
  set.properties.properties.limits.maxComputeWorkGroupInvocations = 1024;
  set.p11.subgroupSize = 32;
  EXPECT_EQ(set.Target(), "vulkan1.2+subgroup32+shared32768+invocations1024");
  set.properties.properties.apiVersion = VK_MAKE_API_VERSION(0, 1, 4, 0);
  set.v12.shaderFloat16 = VK_TRUE;
  set.core.features.shaderInt64 = VK_TRUE;
  set.p11.subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  set.p11.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
  EXPECT_EQ(set.Target(),
            "vulkan1.3+f16+int64+subgroup_arithmetic+subgroup32+shared32768+"
            "invocations1024");
}

TEST(FeaturesTest, RequestsWhatIsThereAndWhatFencesNeed) {
  FeatureSet available;
  available.properties.properties.apiVersion = VK_API_VERSION_1_3;
  available.v12.shaderInt8 = VK_TRUE;
  // This bit is in no row of the table, so Request must not enable it.
  available.v12.bufferDeviceAddressCaptureReplay = VK_TRUE;
  FeatureSet wanted;
  EXPECT_EQ(wanted.Request(available), &wanted.core);
  EXPECT_EQ(wanted.v12.shaderInt8, VK_TRUE);
  EXPECT_EQ(wanted.v12.timelineSemaphore, VK_TRUE);
  EXPECT_EQ(wanted.v12.shaderFloat16, VK_FALSE);
  EXPECT_EQ(wanted.v12.bufferDeviceAddressCaptureReplay, VK_FALSE);
  EXPECT_TRUE(wanted.extensions().empty());
  // The pNext chain must have exactly the structures that exist in Vulkan 1.3.
  EXPECT_EQ(wanted.v12.pNext, &wanted.v13);
  EXPECT_EQ(wanted.v13.pNext, nullptr);

  available.properties.properties.apiVersion = VK_API_VERSION_1_2;
  available.matrix.cooperativeMatrix = VK_TRUE;
  FeatureSet older;
  older.Request(available);
  EXPECT_EQ(older.v12.pNext, &older.matrix);
  ASSERT_EQ(older.extensions().size(), 1u);
  EXPECT_STREQ(older.extensions()[0], "VK_KHR_cooperative_matrix");
}

// Integer dot products are part of Vulkan 1.3. For a device of 1.2 the
// extension must be enabled instead.
TEST(FeaturesTest, DotProductsAreAnExtensionOfOlderVersions) {
  FeatureSet available;
  available.v13.shaderIntegerDotProduct = VK_TRUE;
  available.properties.properties.apiVersion = VK_API_VERSION_1_2;
  FeatureSet older;
  older.Request(available);
  EXPECT_EQ(older.v12.pNext, &older.dot);
  EXPECT_EQ(older.dot.pNext, nullptr);
  EXPECT_EQ(older.dot.shaderIntegerDotProduct, VK_TRUE);
  ASSERT_EQ(older.extensions().size(), 1u);
  EXPECT_STREQ(older.extensions()[0], "VK_KHR_shader_integer_dot_product");

  available.matrix.cooperativeMatrix = VK_TRUE;
  FeatureSet both;
  both.Request(available);
  EXPECT_EQ(both.dot.pNext, &both.matrix);
  EXPECT_EQ(both.extensions().size(), 2u);

  available.properties.properties.apiVersion = VK_API_VERSION_1_3;
  FeatureSet newer;
  newer.Request(available);
  EXPECT_EQ(newer.v12.pNext, &newer.v13);
  EXPECT_EQ(newer.v13.shaderIntegerDotProduct, VK_TRUE);
  EXPECT_EQ(newer.v13.pNext, &newer.matrix);
  EXPECT_EQ(newer.extensions().size(), 1u);

  FeatureSet fast;
  fast.p13.integerDotProduct4x8BitPackedSignedAccelerated = VK_TRUE;
  EXPECT_EQ(fast.Target().find("fast_dot"), std::string::npos);
  fast.p13.integerDotProduct4x8BitPackedUnsignedAccelerated = VK_TRUE;
  EXPECT_NE(fast.Target().find("+fast_dot"), std::string::npos);
}

CooperativeMatrixProperties Product(ComponentType a, ComponentType b,
                                    ComponentType sum) {
  CooperativeMatrixProperties product;
  product.MSize = 16;
  product.NSize = 8;
  product.KSize = 32;
  product.AType = a;
  product.BType = b;
  product.CType = product.ResultType = sum;
  return product;
}

TEST(FeaturesTest, ProductsOfMatricesAreNamed) {
  using enum ComponentType;
  EXPECT_EQ(NameOf(Product(kFloat16, kFloat16, kFloat32)),
            "16x8x32:f16:f16:f32");
  EXPECT_EQ(NameOf(Product(kFloat16, kFloat16, kFloat16)),
            "16x8x32:f16:f16:f16");
  EXPECT_EQ(NameOf(Product(kSigned8, kSigned8, kSigned32)),
            "16x8x32:i8:i8:i32");
  EXPECT_EQ(NameOf(Product(kSigned8, kUnsigned8, kSigned32)),
            "16x8x32:i8:u8:i32");
  EXPECT_EQ(NameOf(Product(kUnsigned8, kUnsigned8, kUnsigned32)),
            "16x8x32:u8:u8:i32");
  // The compiler makes the sum unsigned exactly if both factors are. A product
  // whose sum has the other sign cannot be used, so it has no name.
  EXPECT_EQ(NameOf(Product(kUnsigned8, kUnsigned8, kSigned32)), "");
  EXPECT_EQ(NameOf(Product(kSigned8, kSigned8, kUnsigned32)), "");
  EXPECT_EQ(NameOf(Product(kFloat32, kFloat32, kFloat32)), "");
  EXPECT_EQ(NameOf(Product(ComponentType{1000141000}, ComponentType{1000141000},
                           kFloat32)),
            "");
  CooperativeMatrixProperties other = Product(kFloat16, kFloat16, kFloat32);
  other.ResultType = kFloat16;
  EXPECT_EQ(NameOf(other), "");
  other = Product(kSigned8, kSigned8, kSigned32);
  other.saturatingAccumulation = VK_TRUE;
  EXPECT_EQ(NameOf(other), "");
  other = Product(kSigned8, kSigned8, kSigned32);
  // Scope 2 means that a whole workgroup computes the product; only scope 3, a
  // subgroup, is supported.
  other.scope = 2;
  EXPECT_EQ(NameOf(other), "");
}

TEST(FeaturesTest, TargetsNameProductsOfMatricesThatModulesMayHave) {
  FeatureSet set;
  set.matrix_products = {"16x16x16:f16:f16:f32", "8x8x8:i8:i8:i32"};
  set.matrix.cooperativeMatrix = VK_TRUE;
  set.v13.subgroupSizeControl = VK_TRUE;
  set.v13.computeFullSubgroups = VK_TRUE;
  set.p13.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
  set.p11.subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
  set.p11.subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT;
  EXPECT_EQ(set.Target().find("x16x"), std::string::npos) << set.Target();
  set.v12.vulkanMemoryModel = VK_TRUE;
  EXPECT_NE(set.Target().find("+matrix+vulkan_memory_model+matrix16x16x16:f16:"
                              "f16:f32+matrix8x8x8:i8:i8:i32+subgroup0"),
            std::string::npos)
      << set.Target();
  set.v13.computeFullSubgroups = VK_FALSE;
  EXPECT_EQ(set.Target().find("x16x"), std::string::npos) << set.Target();
}

TEST(FeaturesTest, CapabilitiesFollowFeatures) {
  FeatureSet set;
  const auto has = [&](spv::Capability capability) {
    return HasCapability(set, static_cast<uint32_t>(capability));
  };
  EXPECT_TRUE(has(spv::Capability::Shader));
  EXPECT_FALSE(has(spv::Capability::Int64));
  EXPECT_FALSE(has(spv::Capability::Kernel));
  set.core.features.shaderInt64 = VK_TRUE;
  EXPECT_TRUE(has(spv::Capability::Int64));
  EXPECT_FALSE(has(spv::Capability::DenormPreserve));
  set.p12.shaderDenormPreserveFloat64 = VK_TRUE;
  EXPECT_TRUE(has(spv::Capability::DenormPreserve));
  // The zeros that fill up a row's list of capabilities must not count as
  // capability 0 (Matrix).
  for (const Feature& feature : AllFeatures()) {
    for (uint32_t capability : feature.capabilities) {
      if (capability != 0 && feature.bit != nullptr) {
        feature.bit(set) = VK_TRUE;
        EXPECT_TRUE(HasCapability(set, capability)) << feature.name;
      }
    }
  }
}

}  // namespace
}  // namespace ember::hal::vulkan
