#include "tools/lib/report/run_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::tools {
namespace {

TEST(RunJson, ObjectOfMembers) {
  JsonObject json;
  json.Add("a", "[1]\n");
  json.Add("b", NumbersJson(std::vector<double>{12.5, 3.25}));
  EXPECT_EQ(json.Print(), "{\"a\": [1],\n \"b\": [12.5, 3.25]}\n");
}

TEST(RunJson, TimesLeaveTheWarmUpOut) {
  SessionLife life;
  for (const int64_t ms : {90, 5, 5, 2, 1})
    life.runs.push_back({.begin_ns = 0, .end_ns = ms * 1'000'000});
  EXPECT_EQ(RunTimesJson(life), "[90, 5, 5, 2, 1]");
  life.warm_up_runs = 3;
  EXPECT_EQ(RunTimesJson(life), "[90, 2, 1]");
}

TEST(RunJson, ResultsHaveTypesAndElements) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  ASSERT_EQ(module->results().size(), 1u);
  vm::Tensor result = *vm::Tensor::Allocate(DType::kF32, {2, 2});
  const std::span<float> elements = result.elements<float>();
  elements[0] = 0.1f;
  elements[1] = -std::numeric_limits<float>::infinity();
  elements[2] = std::numeric_limits<float>::quiet_NaN();
  elements[3] = 3e30f;
  const std::string text = ResultsJson(*module, {&result, 1}, true);
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(list.is_array()) << text;
  const nlohmann::json& one = list.at(0);
  EXPECT_EQ(one.at("name"), module->results()[0].name);
  EXPECT_EQ(one.at("type"), "f32");
  EXPECT_EQ(one.at("dims"), nlohmann::json({2, 2}));
  EXPECT_EQ(one.at("elements").at(0).get<float>(), 0.1f);
  EXPECT_EQ(one.at("elements").at(1), "-inf");
  EXPECT_EQ(one.at("elements").at(2), "nan");
  EXPECT_EQ(one.at("elements").at(3).get<float>(), 3e30f);
  EXPECT_EQ(nlohmann::json::parse(ResultsJson(*module, {&result, 1}, false))
                .at(0)
                .count("elements"),
            0u);
}

TEST(RunJson, StringsAndBools) {
  const auto module = *vm::Module::FromDefinition(vm::SampleNamed("static"));
  const vm::Tensor words = *vm::Tensor::OfStrings({2}, {"a\"b", "\n"});
  nlohmann::json list =
      nlohmann::json::parse(ResultsJson(*module, {&words, 1}, true));
  EXPECT_EQ(list.at(0).at("type"), "string");
  EXPECT_EQ(list.at(0).at("elements").at(0), "a\"b");
  vm::Tensor flags = *vm::Tensor::Allocate(DType::kBool, {1});
  flags.elements<bool>()[0] = true;
  list = nlohmann::json::parse(ResultsJson(*module, {&flags, 1}, true));
  EXPECT_EQ(list.at(0).at("elements").at(0), true);
}

}  // namespace
}  // namespace ember::tools
