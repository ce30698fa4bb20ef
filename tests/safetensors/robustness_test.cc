// Reads safetensors files and configurations with damaged bytes: any result is
// accepted, but no crash. Run it with --config=asan, too.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_cursor.h"
#include "frontends/gguf/testing/file_builder.h"
#include "frontends/safetensors/import.h"
#include "frontends/safetensors/safetensors_file.h"
#include "frontends/safetensors/testing/hub_model.h"
#include "frontends/testing/damaged_bytes.h"

namespace ember::safetensors {
namespace {

Status Open(const std::string& bytes) {
  return SafetensorsFile::Open(AsBytes(bytes), nullptr).status();
}

std::string File(const std::string& header, const std::string& data = "") {
  return gguf::LittleEndian(header.size(), 8) + header + data;
}

void ExpectRefused(const std::string& bytes, std::string_view text) {
  const Status status = Open(bytes);
  EXPECT_FALSE(status.ok()) << text;
  EXPECT_NE(status.message().find(text), std::string_view::npos)
      << status.ToString();
  frontends::ExpectOneLine(status);
}

std::string Tensor(const std::string& name, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\": {\"dtype\": \"F32\", \"shape\": " + shape +
         ", \"data_offsets\": " + offsets + "}";
}

TEST(SafetensorsFile, RefusesWhatIsNotInTheFile) {
  ExpectRefused("abc", "expected the header's length");
  ExpectRefused(gguf::LittleEndian(~uint64_t{0}, 8) + "{}", "cut short");
  ExpectRefused(File("[]"), "expected an object");
  ExpectRefused(File("{"), "safetensors header");
  ExpectRefused(File("{\"a\": 1}"), "'a': expected an object");
  ExpectRefused(File("{" + Tensor("a", "[1]", "[0, 4]") + "}"), "cut short");
  ExpectRefused(File("{" + Tensor("a", "[2]", "[0, 4]") + "}", "abcd"),
                "as many bytes as its shape");
  ExpectRefused(File("{" + Tensor("a", "[1]", "[4, 0]") + "}", "abcd"),
                "data_offsets within 4 bytes");
  ExpectRefused(File("{" + Tensor("a", "[-1]", "[0, 4]") + "}", "abcd"),
                "a shape of at most 8 numbers");
  ExpectRefused(
      File("{" + Tensor("a", "[4611686018427387903, 4]", "[0, 4]") + "}",
           "abcd"),
      "as many bytes as its shape");
  ExpectRefused(File("{" + Tensor("a", "[1]", "[0, 4]") + ", " +
                         Tensor("b", "[1]", "[0, 4]") + "}",
                     "abcd"),
                "found an overlap");
  ExpectRefused(
      File(R"({"a": {"dtype": "X9", "shape": [], "data_offsets": [0, 0]}})"),
      "found 'X9'");
}

TEST(SafetensorsFile, RefusesHugeHeaders) {
  std::string header = "{}";
  header.resize(SafetensorsFile::kMaxHeader + 1, ' ');
  ExpectRefused(File(header), "at most 16 MiB");
}

TEST(Robustness, DamagedHeaders) {
  const std::string file =
      WriteSafetensors({{"a", {{1, 2}, {1, 2}}}, {"b", {{}, {1}}}});
  frontends::TryEveryByteChanged(file, Open);
  frontends::TryEveryTruncation(file, Open);
  frontends::TryAbsurdWords(file, Open);
}

TEST(Robustness, DamagedConfigurations) {
  const HubModel model = MakeHubModel("qwen3");
  const auto import = [&](const std::string& config) {
    return ImportModelBytes(config, AsBytes(model.weights), nullptr, {})
        .status();
  };
  frontends::TryEveryByteChanged(model.config, import);
  frontends::TryEveryTruncation(model.config, import);
  // Each value of the configuration is replaced by other numbers and by values
  // of other types.
  for (size_t at = 0; at < model.config.size(); ++at) {
    if (model.config[at] != ':') continue;
    const size_t end = model.config.find_first_of(",}", at);
    for (const char* value : {"0", "-1", "1e300", "9223372036854775807", "null",
                              "[]", "{}", "\"x\"", "true", "3"}) {
      std::string config = model.config;
      config.replace(at + 1, end - at - 1, value);
      frontends::ExpectOneLine(import(config));
    }
  }
}

}  // namespace
}  // namespace ember::safetensors
