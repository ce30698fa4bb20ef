#include "frontends/registry/other_formats.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "frontends/registry/formats.h"

namespace ember::frontends {
namespace {

std::string_view TitleOf(std::string_view contents, std::string_view path) {
  EXPECT_EQ(FindFormat(contents), nullptr) << path;
  const OtherFormat* other = FindOtherFormat(contents, path);
  return other == nullptr ? "none" : other->title;
}

TEST(OtherFormats, AreToldByTheirContents) {
  using namespace std::string_view_literals;
  EXPECT_EQ(TitleOf("\x30\0\0\0ET12\0\0"sv, "m"),
            "an ExecuTorch program (.pte)");
  EXPECT_EQ(TitleOf("\x30\0\0\0ORTM\0\0"sv, "m"),
            "a model of ONNX Runtime's own format (.ort)");
  EXPECT_EQ(
      TitleOf(R"({"format": "graph-model", "modelTopology": {"node": []}})",
              "model.json"),
      "a TensorFlow.js model (model.json)");
  for (const std::string_view magic : {"lmgg", "tjgg"}) {
    EXPECT_EQ(TitleOf(std::string(magic) + std::string(20, '\3'), "m"),
              "a GGML file of before 2023-08 (llama.cpp)");
  }
  EXPECT_EQ(TitleOf("\x0a\x0d\x08\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                    "\x01\x20\x00"sv,
                    "__model__"),
            "a PaddlePaddle model");
  EXPECT_EQ(
      TitleOf(R"({"base_code":{"magic":"pir","version":1}})", "inference.json"),
      "a PaddlePaddle model");
  EXPECT_EQ(TitleOf("\x00\x00", "m.pdiparams"), "a PaddlePaddle model");
  EXPECT_EQ(TitleOf("<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">"
                    "\n\t<layers>\n",
                    "m.xml"),
            "an OpenVINO model (.xml with .bin)");
  EXPECT_EQ(TitleOf("7767517\n75 83\nInput data 0 1 data\n", "m.param"),
            "an ncnn model (.param with .bin)");
  EXPECT_EQ(TitleOf("[net]\nbatch=1\n[convolutional]\nsize=3\n", "y.cfg"),
            "a Darknet network (.cfg)");
  EXPECT_EQ(TitleOf(R"({"learner": {"attributes": {}}})", "m.json"),
            "a model of trees of XGBoost or LightGBM");
  EXPECT_EQ(TitleOf("\x00\x01\x57\xfb\x80\x8b\x24\x75\x47\xdb"sv, "m.index"),
            "the index of a TensorFlow checkpoint, which has weights and no "
            "model");
  EXPECT_EQ(TitleOf("ftrt\x00", "m"), "an engine of TensorRT");
  EXPECT_EQ(TitleOf("", "m"), "none");
  EXPECT_EQ(TitleOf("hello", "m.txt"), "none");
  EXPECT_EQ(TitleOf("{\"a\": 1}", "config.json"), "none");
}

TEST(OtherFormats, RowsAreWhole) {
  std::set<std::string_view> titles;
  for (const OtherFormat& other : OtherFormats()) {
    EXPECT_TRUE(titles.insert(other.title).second) << other.title;
    EXPECT_FALSE(other.advice.empty()) << other.title;
    EXPECT_FALSE(other.sniff("", "")) << other.title;
  }
}

}  // namespace
}  // namespace ember::frontends
