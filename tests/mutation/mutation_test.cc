// Runs a part of what ./dev mutate does, and tests that it detects bugs.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/file.h"
#include "gtest/gtest.h"
#include "tests/mutation/mutants.h"
#include "tests/mutation/supervised.h"
#include "tests/mutation/try_module.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"

namespace ember::tests {
namespace {

constexpr const char* kSamples[] = {"loop", "static", "shapes", "calls",
                                    "strings"};
// Small models of the corpus that are mutated. Their modules are made of
// testdata/NAME.txt, which vm-dump printed.
constexpr const char* kCompiled[] = {"quantised_convolution", "loop_f16",
                                     "nested_if", "sequence", "non_zero"};

std::vector<uint8_t> FileOf(std::string_view name) {
  for (const std::string_view sample : kSamples) {
    if (name == sample) return *vm::SerializeModule(vm::SampleNamed(name));
  }
  const std::string path =
      "tests/mutation/testdata/" + std::string(name) + ".txt";
  return *vm::SerializeModule(*vm::ParseModule(*ReadFile(path)));
}

TEST(Supervised, CrashesAndHangsAreOutcomes) {
  SupervisedOptions options;
  options.cpu_seconds = 0.5;
  const SupervisedReport report =
      RunSupervised({0, 20, 2}, options, []() -> Case {
        return [](int64_t number) {
          if (number == 4) ::raise(SIGKILL);
          if (number == 8) ::_exit(7);
          volatile bool hangs = number == 12;
          while (hangs) {
          }
          if (number == 16) return ChildOutcome::kInternal;
          if (number == 18) return ChildOutcome::kDiffers;
          return number < 10 ? ChildOutcome::kRan : ChildOutcome::kRefused;
        };
      });
  // The cases 0, 2 and 6 run to their end.
  EXPECT_EQ(report[ChildOutcome::kRan], 3);
  // The cases 10 and 14 are refused; the others from 10 on have other outcomes.
  EXPECT_EQ(report[ChildOutcome::kRefused], 2);
  EXPECT_EQ(report[ChildOutcome::kInternal], 1);
  EXPECT_EQ(report[ChildOutcome::kDiffers], 1);
  EXPECT_EQ(report[ChildOutcome::kCrashed], 2);
  EXPECT_EQ(report[ChildOutcome::kTimedOut], 1);
  std::set<int64_t> found;
  for (const Finding& finding : report.findings) {
    EXPECT_TRUE(IsFinding(finding.outcome));
    found.insert(finding.number);
  }
  EXPECT_EQ(found, (std::set<int64_t>{4, 8, 12, 16, 18}));
}

TEST(Supervised, WorkersAreReplaced) {
  SupervisedOptions options;
  options.cases_per_worker = 3;
  // Each worker returns kInternal from its fourth case on. Workers are replaced
  // after three cases, so that must never happen.
  const SupervisedReport report = RunSupervised({0, 10}, options, [] {
    auto count = std::make_shared<int>(0);
    return [count](int64_t) {
      return ++*count <= 3 ? ChildOutcome::kRan : ChildOutcome::kInternal;
    };
  });
  EXPECT_EQ(report[ChildOutcome::kRan], 10);
  EXPECT_TRUE(report.findings.empty());
}

TEST(Supervised, WhatHappensBehindTheLastCaseCounts) {
  const SupervisedReport report = RunSupervised({0, 3}, {}, []() -> Case {
    std::atexit([] { ::_exit(5); });
    return [](int64_t) { return ChildOutcome::kRan; };
  });
  EXPECT_EQ(report[ChildOutcome::kRan], 3);
  EXPECT_EQ(report[ChildOutcome::kCrashed], 1);
}

TEST(Mutants, AreAllOfThem) {
  const std::vector<uint8_t> file = FileOf("static");
  const MutantList mutants(file);
  const MutantList without_bits(file, 0);
  int64_t cut = 0, shortened = 0;
  std::set<std::vector<uint8_t>> changed;
  for (int64_t i = 0; i < without_bits.size(); ++i) {
    const Mutant mutant = without_bits.Make(i);
    cut += mutant.description.starts_with("cut");
    shortened += mutant.description.starts_with("metadata of");
    if (mutant.file.size() != file.size()) continue;
    EXPECT_EQ(mutant.is_original, mutant.file == file) << mutant.description;
    changed.insert(mutant.file);
  }
  const int64_t structure = shortened + 64;
  EXPECT_EQ(cut, 2 * structure);
  EXPECT_EQ(mutants.size() - without_bits.size(), 8 * structure);
  EXPECT_EQ(without_bits.size(),
            structure / 4 * kValuesPerWord + cut + shortened);
  // At least half of the mutants of words must differ from the original and
  // from each other: few give a word its old value, or one value twice.
  EXPECT_GT(static_cast<int64_t>(changed.size()),
            structure / 4 * kValuesPerWord / 2);
}

// Modules in testdata/found: mutants, made as small as possible, whose kernels
// once gave wrong results.
class FoundModule : public testing::TestWithParam<const char*> {};

TEST_P(FoundModule, GivesTier0sResults) {
  const std::vector<uint8_t> file = FileOf("found/" + std::string(GetParam()));
  for (const int tier : {1, 2}) {
    const auto trier =
        ModuleTrier::Create({.tier = tier, .compares_results = true});
    ASSERT_TRUE(trier.ok()) << trier.status().ToString();
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Status status;
      EXPECT_EQ((*trier)->Try(file, seed, &status), ChildOutcome::kRan)
          << "tier " << tier << ", inputs " << seed << ": "
          << status.ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modules, FoundModule,
                         testing::Values("unwritten_temporary"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// Tests that damaged copies of modules do no harm. Their hashes are made to
// fit, so some copies run and others are refused.
class MutatedModule
    : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(MutatedModule, DoesNoHarm) {
  const auto [name, tier] = GetParam();
  const std::vector<uint8_t> file = FileOf(name);
  const MutantList mutants(file);
  // The step between the mutants that are tried is a prime, so that all kinds
  // of words and values occur. With kernels fewer mutants are tried, because
  // compiling takes longer.
  const int64_t step = tier == 0 ? 3 : 29;
  const SupervisedReport report =
      RunSupervised({0, mutants.size(), step}, {}, [&, tier = tier] {
        const std::shared_ptr<ModuleTrier> trier =
            *ModuleTrier::Create({.tier = tier});
        const std::optional<uint64_t> seed = trier->Prepare(file);
        if (!seed) ::_exit(3);
        return [&mutants, trier, seed](int64_t number) {
          const Mutant mutant = mutants.Make(number);
          if (mutant.is_original) return ChildOutcome::kSame;
          return trier->Try(mutant.file, *seed);
        };
      });
  for (const Finding& finding : report.findings) {
    ADD_FAILURE() << "mutant " << finding.number << " ("
                  << mutants.Make(finding.number).description
                  << "): " << OutcomeName(finding.outcome) << ": "
                  << finding.how << "; ./dev mutate --tiers=" << tier
                  << " with the module that write_sample " << name << " writes";
  }
  for (int i = 0; i < kOutcomeCount; ++i) {
    std::printf("%s %lld  ", OutcomeName(static_cast<ChildOutcome>(i)).data(),
                static_cast<long long>(report.counts[static_cast<size_t>(i)]));
  }
  std::printf("\n");
  EXPECT_GT(report[ChildOutcome::kRan], 0);
  EXPECT_GT(report[ChildOutcome::kRefused], 0);
}

std::string NameOf(
    const testing::TestParamInfo<std::tuple<const char*, int>>& info) {
  return std::string(std::get<0>(info.param)) + "_tier" +
         std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Samples, MutatedModule,
                         testing::Combine(testing::ValuesIn(kSamples),
                                          testing::Values(0, 1, 2)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Compiled, MutatedModule,
                         testing::Combine(testing::ValuesIn(kCompiled),
                                          testing::Values(0, 1, 2)),
                         NameOf);

}  // namespace
}  // namespace ember::tests
