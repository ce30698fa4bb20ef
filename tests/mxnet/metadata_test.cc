// Tests that a module keeps the metadata of an MXNet file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/byte_cursor.h"
#include "frontends/mxnet/import.h"
#include "frontends/mxnet/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(MxNetMetadata, IsKept) {
  const std::string both = mxnet::SampleModel("conv");
  const size_t zero = both.find('\0');
  const std::string_view view = both;
  EXPECT_THAT(
      KeptMetadata(mxnet::ImportModelBytes(
          view.substr(0, zero), AsBytes(view.substr(zero + 1)), nullptr, {})),
      ElementsAre(Pair("mxnet.mxnet_version", "10901")));
}

}  // namespace
}  // namespace ember::tests
