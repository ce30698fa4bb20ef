// Tests that a module keeps the metadata of a Caffe file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/byte_cursor.h"
#include "frontends/caffe/import.h"
#include "frontends/caffe/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(CaffeMetadata, IsKept) {
  const caffe::SampleModel& model = caffe::SampleModels()[0];
  EXPECT_THAT(KeptMetadata(caffe::ImportModelBytes(
                  model.prototxt, AsBytes(model.caffemodel), nullptr, {})),
              ElementsAre(Pair("caffe.name", "net")));
}

}  // namespace
}  // namespace ember::tests
