// docs/caffe-coverage.md is what the table of layers says now, and the table
// has all types that nets once named by numbers.
#include "tests/caffe/coverage/coverage_page.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "frontends/caffe/layer_table.h"
#include "frontends/caffe/upgrade.h"

namespace ember::tests {
namespace {

TEST(CaffeCoveragePage, IsFresh) {
  const StatusOr<std::string> page = ReadFile("docs/caffe-coverage.md");
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(*page, CaffeCoveragePage()) << "run ./dev coverage-page";
}

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
