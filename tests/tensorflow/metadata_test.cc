// Tests that a module keeps the metadata of a TensorFlow file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/byte_cursor.h"
#include "base/file.h"
#include "frontends/tensorflow/import.h"
#include "frontends/tensorflow/testing/checkpoint_writer.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "tests/formats/kept_metadata.h"

namespace ember::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(TensorFlowMetadata, IsKept) {
  const std::string folder = testing::TempDir() + "metadata_saved_model";
  tensorflow::WriteSavedModel(folder, tensorflow::SampleSavedModel(),
                              tensorflow::SampleCheckpoint(false));
  std::filesystem::create_directories(folder + "/assets");
  ASSERT_TRUE(
      WriteFileAtomically(folder + "/assets/words.txt", "one\ntwo").ok());
  frontends::ModelFile file(folder + "/saved_model.pb");
  EXPECT_THAT(
      KeptMetadata(tensorflow::ImportModel(file, {})),
      ElementsAre(
          Pair("tensorflow.asset.words.txt", "one\ntwo"),
          Pair("tensorflow.left_out",
               "asset.../saved_model.pb: expected the name of a file in "
               "assets\nasset.none.txt: expected a file, found none\n"),
          Pair("tensorflow.signatures", "count serving_default"),
          Pair("tensorflow.tags", "serve"),
          Pair("tensorflow.version", "2.15.0")));
  const std::string graph = tensorflow::SampleModel("layers");
  EXPECT_THAT(KeptMetadata(tensorflow::ImportModelBytes(AsBytes(graph), {})),
              IsEmpty());
}

// If the folder of assets is a link to another folder, none of its files gets
// into the module.
TEST(TensorFlowMetadata, AssetsOfAnotherFolderAreLeftOut) {
  const std::string top = testing::TempDir() + "linked_saved_model";
  std::filesystem::remove_all(top);
  const std::string folder = top + "/model";
  std::filesystem::create_directories(folder);
  std::filesystem::create_directories(top + "/secret");
  tensorflow::WriteSavedModel(folder, tensorflow::SampleSavedModel(),
                              tensorflow::SampleCheckpoint(false));
  ASSERT_TRUE(WriteFileAtomically(top + "/secret/words.txt", "hidden").ok());
  std::filesystem::create_directory_symlink("../secret", folder + "/assets");
  frontends::ModelFile file(folder + "/saved_model.pb");
  const graph::Metadata metadata =
      KeptMetadata(tensorflow::ImportModel(file, {}));
  EXPECT_FALSE(metadata.contains("tensorflow.asset.words.txt"));
  EXPECT_THAT(metadata.at("tensorflow.left_out"),
              HasSubstr("asset.words.txt: asset 'assets/words.txt': expected a "
                        "file inside the model's folder, found a link out of "
                        "it; if you trust the file, copy it to the link's "
                        "place\n"));
}

}  // namespace
}  // namespace ember::tests
