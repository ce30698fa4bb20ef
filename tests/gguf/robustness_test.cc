// Imports files whose header is damaged: any result is accepted, but no crash.
// Run it with --config=asan, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_cursor.h"
#include "frontends/gguf/gguf_file.h"
#include "frontends/gguf/import.h"
#include "frontends/gguf/testing/file_builder.h"
#include "frontends/gguf/testing/sample_models.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::gguf {
namespace {

Status Try(const std::string& bytes) {
  return ImportModelBytes(AsBytes(bytes), nullptr, {}).status();
}

// Returns the size of the header in bytes, that is, of everything before the
// tensors' data.
size_t HeaderSize(const std::string& bytes) {
  const auto file = GgufFile::Open(AsBytes(bytes), nullptr);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return static_cast<size_t>(file->tensors().front().bytes.data() -
                             reinterpret_cast<const uint8_t*>(bytes.data()));
}

// Returns a model with a single layer and a short header, so that damaging each
// byte of it takes little time.
std::string SmallModel() {
  FileBuilder file;
  file.AddText("general.architecture", "gpt2");
  for (const auto& [key, value] :
       {std::pair<const char*, int64_t>{"context_length", 2},
        {"embedding_length", 4},
        {"block_count", 1},
        {"attention.head_count", 1}})
    file.AddInteger(std::string("gpt2.") + key, value);
  const auto add = [&](const char* name, std::vector<int64_t> dims) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    file.AddTensor(name, 0, dims,
                   std::string(static_cast<size_t>(count) * 4, '\0'));
  };
  add("token_embd.weight", {3, 4});
  add("position_embd.weight", {2, 4});
  add("output_norm.weight", {4});
  add("blk.0.attn_norm.weight", {4});
  add("blk.0.attn_qkv.weight", {12, 4});
  add("blk.0.attn_output.weight", {4, 4});
  add("blk.0.ffn_norm.weight", {4});
  add("blk.0.ffn_up.weight", {2, 4});
  add("blk.0.ffn_down.weight", {4, 2});
  return file.Build();
}

TEST(Robustness, TheModelsThemselvesAreFine) {
  EXPECT_TRUE(Try(SmallModel()).ok()) << Try(SmallModel()).ToString();
  for (const std::string_view name : SampleModelNames()) {
    const Status status = Try(SampleModel(name));
    EXPECT_TRUE(status.ok()) << name << ": " << status.ToString();
  }
}

TEST(Robustness, EveryByteOfTheHeaderChanged) {
  const std::string model = SmallModel();
  const size_t header = HeaderSize(model);
  frontends::TryEveryByteChanged(model.substr(0, header),
                                 [&](const std::string& damaged) {
                                   return Try(damaged + model.substr(header));
                                 });
}

TEST(Robustness, EveryTruncation) {
  frontends::TryEveryTruncation(SmallModel(), Try);
}

TEST(Robustness, AbsurdNumbers) {
  const std::string model = SmallModel();
  const size_t header = HeaderSize(model);
  frontends::TryAbsurdWords(model.substr(0, header),
                            [&](const std::string& damaged) {
                              return Try(damaged + model.substr(header));
                            });
}

// Numbers of the metadata that no model has must be refused, not computed with.
TEST(Robustness, AbsurdMetadata) {
  const std::string sample = SampleModel("llama/yarn");
  for (const std::string_view key :
       {"block_count", "embedding_length", "attention.head_count",
        "attention.head_count_kv", "context_length", "rope.dimension_count",
        "rope.scaling.factor", "rope.freq_base",
        "rope.scaling.original_context_length"}) {
    for (const uint32_t value :
         {0u, 1u, 3u, 0x7fffffffu, 0xffffffffu, 0x7f800000u, 0x00000001u}) {
      std::string model = sample;
      const size_t at = model.find("llama." + std::string(key));
      ASSERT_NE(at, std::string::npos) << key;
      model.replace(at + 6 + key.size() + 4, 4, LittleEndian(value, 4));
      frontends::ExpectOneLine(Try(model));
    }
  }
}

TEST(Robustness, ErrorsNameWhatIsWrong) {
  const auto error = [](const std::string& model) {
    return std::string(Try(model).message());
  };
  FileBuilder unknown;
  unknown.AddText("general.architecture", "mammoth");
  EXPECT_NE(error(unknown.Build()).find("expected one of llama"),
            std::string::npos)
      << error(unknown.Build());
  EXPECT_NE(error(unknown.Build()).find("found 'mammoth'"), std::string::npos);
  FileBuilder split;
  split.AddText("general.architecture", "llama");
  split.AddInteger("split.count", 3);
  EXPECT_NE(error(split.Build()).find("--merge"), std::string::npos);
  // The metadata says four heads of keys instead of two, so a weight has the
  // wrong number of rows.
  std::string shape = SampleModel("llama");
  const std::string key = "llama.attention.head_count_kv";
  shape.replace(shape.find(key) + key.size() + 4, 4, LittleEndian(4, 4));
  EXPECT_NE(error(shape).find("'blk.0.attn_k.weight': expected shape [32, 32], "
                              "found [16, 32]"),
            std::string::npos)
      << error(shape);
  // A tensor whose name no part of the graph uses, such as a misspelt one, must
  // be refused.
  std::string more = SampleModel("llama");
  const std::string name = "blk.0.ffn_gate.weight";
  more.replace(more.find(name), name.size(), "blk.0.ffn_gata.weight");
  EXPECT_NE(error(more).find("'blk.0.ffn_gata.weight'"), std::string::npos)
      << error(more);
  // A tensor of type 16, IQ2_XXS, which the importer does not support, must be
  // refused.
  FileBuilder type;
  type.AddText("general.architecture", "gpt2");
  for (const char* number : {"context_length", "block_count",
                             "attention.head_count", "embedding_length"})
    type.AddInteger(std::string("gpt2.") + number, 1);
  type.AddTensor("token_embd.weight", 16, {1, 256}, std::string(66, '\0'));
  EXPECT_NE(error(type.Build()).find("found IQ2_XXS"), std::string::npos)
      << error(type.Build());
}

}  // namespace
}  // namespace ember::gguf
