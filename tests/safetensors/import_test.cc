// Compares models of Hugging Face with the GGUF models of the same weights.
#include "frontends/safetensors/import.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/byte_cursor.h"
#include "base/file.h"
#include "frontends/gguf/testing/sample_models.h"
#include "frontends/safetensors/testing/hub_model.h"
#include "tests/formats/numbers.h"
#include "tests/gguf/sample_session.h"

namespace ember::safetensors {
namespace {

StatusOr<graph::Graph> Import(const HubModel& model) {
  return ImportModelBytes(model.config, AsBytes(model.weights), nullptr, {});
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& want,
                std::string_view name) {
  ASSERT_EQ(got.size(), want.size()) << name;
  ASSERT_FALSE(want.empty()) << name;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-4) << name << " " << i;
}

TEST(Import, LogitsAreThoseOfTheGgufModel) {
  for (const std::string_view name : HubModelNames()) {
    if (name == "bert") continue;
    gguf::SampleSession hub(Import(MakeHubModel(name)));
    gguf::SampleSession sample(gguf::SampleModel(name));
    for (const std::vector<int32_t>& tokens :
         {std::vector<int32_t>{1, 7, 8, 9}, {11}, {5, 6}})
      ExpectNear(hub.Append(tokens), sample.Append(tokens), name);
  }
}

TEST(Import, EmbeddingsAreThoseOfTheGgufModel) {
  const std::vector<int32_t> tokens = {1, 7, 8};
  const auto results =
      tests::RunGraph(Import(MakeHubModel("bert")),
                      {vm::Tensor::Borrow(DType::kI32, {1, 3}, tokens.data())});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  // The model of Hugging Face returns a vector for each token, and the GGUF
  // model the mean of these vectors, so the mean is compared.
  const std::vector<float> want =
      gguf::Embed(gguf::SampleModel("bert"), tokens);
  const auto all = (*results)[0].elements<float>();
  ASSERT_EQ(all.size(), 3 * want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const float mean =
        (all[i] + all[i + want.size()] + all[i + 2 * want.size()]) / 3;
    EXPECT_NEAR(mean, want[i], 1e-5) << i;
  }
}

std::string Error(const StatusOr<graph::Graph>& graph) {
  EXPECT_FALSE(graph.ok());
  if (graph.ok()) return "";
  const std::string message(graph.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

TEST(Import, ErrorsNameWhatIsWrong) {
  const HubModel model = MakeHubModel("qwen2");
  HubModel other = model;
  other.config = R"({"architectures": ["OtherForCausalLM"]})";
  EXPECT_NE(Error(Import(other)).find("found 'OtherForCausalLM'"),
            std::string::npos);
  other.config = R"({"architectures": ["Qwen2ForCausalLM"]})";
  EXPECT_NE(Error(Import(other)).find("'n_embd': expected an integer"),
            std::string::npos);
  other.config = "[";
  EXPECT_NE(Error(Import(other)).find("config.json"), std::string::npos);
  other = model;
  other.config.replace(other.config.find("\"num_hidden_layers\": 2"), 22,
                       "\"num_hidden_layers\": 3");
  EXPECT_NE(Error(Import(other))
                .find("'blk.2.attn_norm.weight': expected "
                      "shape [32], found no such tensor"),
            std::string::npos);
  other.config.replace(other.config.find("\"num_hidden_layers\": 3"), 22,
                       "\"num_hidden_layers\": 1");
  EXPECT_NE(Error(Import(other)).find("whose meaning is not known"),
            std::string::npos);
  other.config.insert(1, "\"quantization_config\": {}, ");
  EXPECT_NE(Error(Import(other)).find("quantized"), std::string::npos);
}

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void Write(const std::string& name, std::string_view contents) {
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/" + name, contents).ok());
  }
  StatusOr<graph::Graph> ImportFile(const std::string& name) {
    frontends::ModelFile file(folder_ + "/" + name);
    return ImportModel(file, {});
  }
  std::string folder_ = testing::TempDir() + "hub";
};

TEST_F(FolderTest, ShardsAreOneModel) {
  // The first file (shard) has all tensors of the model. The second one has
  // only a tensor that the importer does not use.
  const HubModel model = MakeHubModel("qwen3");
  Write("config.json", model.config);
  Write("a.safetensors", model.weights);
  Write("b.safetensors",
        WriteSafetensors({{"model.rotary_emb.inv_freq", {{1}, {1}}}}));
  Write("model.safetensors.index.json",
        R"({"metadata": {}, "weight_map": {"x": "a.safetensors",
            "y": "b.safetensors", "z": "a.safetensors"}})");
  const auto graph = ImportFile("model.safetensors.index.json");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
}

TEST_F(FolderTest, FilesOutsideAreRefused) {
  const HubModel model = MakeHubModel("qwen3");
  Write("model.safetensors", model.weights);
  EXPECT_NE(Error(ImportFile("model.safetensors")).find("config.json"),
            std::string::npos);
  Write("config.json", model.config);
  EXPECT_TRUE(ImportFile("model.safetensors").ok());
  Write("i.json", R"({"weight_map": {"x": "../model.safetensors"}})");
  EXPECT_NE(Error(ImportFile("i.json")).find("shard"), std::string::npos);
  Write("j.json", R"({"weight_map": {"x": 3}})");
  EXPECT_NE(Error(ImportFile("j.json")).find("expected the name of a file"),
            std::string::npos);
}

}  // namespace
}  // namespace ember::safetensors
