#include "jit/kernel/tuned_schedules.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/testing/seeds.h"

namespace ember::jit {
namespace {

constexpr const char* kText =
    "ember schedules 1\n"
    "schedule 00112233445566778899aabbccddeeff x86_64-linux+avx2+cores=2 0.8 "
    "0.00125 d0_conv\n"
    "  split %y0 i1 16 -> i1_o i1_l\n"
    "  vectorize %y0 i1_l\n"
    "end\n"
    "schedule ffeeddccbbaa99887766554433221100 aarch64-linux+neon 1 1e-05 \n"
    "end\n";

TEST(TunedSchedules, TextsAreParsedAsWhatTheyPrint) {
  const auto tuned = TunedSchedules::Parse(kText);
  ASSERT_TRUE(tuned.ok()) << tuned.status().ToString();
  EXPECT_EQ(tuned->Print(), kText);
  EXPECT_EQ(tuned->size(), 2u);
}

TEST(TunedSchedules, AreFoundByKeyAndTargetWithoutCores) {
  const auto tuned = TunedSchedules::Parse(kText);
  ASSERT_TRUE(tuned.ok());
  const std::string key = "00112233445566778899aabbccddeeff";
  const TunedSchedule* one = tuned->Find(key, "x86_64-linux+avx2+cores=64");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->steps, "split %y0 i1 16 -> i1_o i1_l\nvectorize %y0 i1_l\n");
  EXPECT_EQ(one->name, "d0_conv");
  EXPECT_EQ(tuned->Find(key, "x86_64-linux"), nullptr);
  EXPECT_EQ(tuned->Find(key, "x86_64-linux+avx2+avx512f"), nullptr);
}

TEST(TunedSchedules, TheFasterOneIsKept) {
  TunedSchedules tuned;
  for (const double ratio : {0.9, 0.7, 0.8})
    tuned.Add({.key = "k", .target = "t", .ratio = ratio});
  EXPECT_EQ(tuned.size(), 1u);
  EXPECT_EQ(tuned.Find("k", "t")->ratio, 0.7);
}

TEST(TunedSchedules, ErrorsNameTheLine) {
  const auto error = [](const std::string& text) {
    return std::string(TunedSchedules::Parse(text).status().message());
  };
  EXPECT_EQ(error("ember schedules 2\n"),
            "line 1: expected 'ember schedules 1', found 'ember schedules 2'");
  EXPECT_EQ(error("ember schedules 1\nfoo\n"),
            "line 2: expected 'schedule KEY TARGET RATIO SECONDS NAME', found "
            "'foo'");
  EXPECT_EQ(error("ember schedules 1\nschedule abc t 1 1 n\n"),
            "line 2: expected a key of 32 hexadecimal digits, found 'abc'");
  const std::string head =
      "ember schedules 1\nschedule 00112233445566778899aabbccddeeff t ";
  EXPECT_EQ(error(head + "nan 1 n\nend\n").substr(0, 38),
            "line 2: expected a ratio and seconds, ");
  EXPECT_EQ(error(head + "1 1 n\nunroll %y i\n"),
            "line 3: expected 'end', found 'the end of the text'");
  EXPECT_EQ(error(head + "1 1 n\nunrol %y i\nend\n").substr(0, 25),
            "line 3: expected a step: ");
}

TEST(TunedSchedules, AnyTextIsParsedOrRefused) {
  const SeedRange seeds = TestSeeds(300);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    std::mt19937_64 random(seed);
    std::string text = kText;
    for (int i = 0; i < 3; ++i) {
      const size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = static_cast<char>(random());
      else
        text.erase(at, random() % 20);
      if (text.empty()) text = "x";
    }
    const auto tuned = TunedSchedules::Parse(text);
    if (!tuned.ok()) continue;
    const auto again = TunedSchedules::Parse(tuned->Print());
    ASSERT_TRUE(again.ok()) << "EMBER_SEED=" << seed << "\n" << text;
    EXPECT_EQ(again->Print(), tuned->Print()) << "EMBER_SEED=" << seed;
  }
}

}  // namespace
}  // namespace ember::jit
