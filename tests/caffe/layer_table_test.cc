// Tests that the table of layers has all types that nets once named by numbers.
#include "frontends/caffe/layer_table.h"

#include <gtest/gtest.h>

#include <string_view>

#include "frontends/caffe/upgrade.h"

namespace ember::tests {
namespace {

TEST(LayerTable, HasAllTypesOfV1) {
  using V1 = caffe::V1LayerParameter;
  for (int type = V1::LayerType_MIN; type <= V1::LayerType_MAX; ++type) {
    if (!V1::LayerType_IsValid(type) || type == V1::NONE) continue;
    const std::string_view name =
        caffe::TypeOfV1(static_cast<V1::LayerType>(type));
    EXPECT_NE(caffe::FindRow(name), nullptr) << type << " " << name;
  }
}

}  // namespace
}  // namespace ember::tests
