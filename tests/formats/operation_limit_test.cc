// Tests that every importer fails with the builder's error, and with no other,
// wherever the builder fails: each model is imported with every operation limit
// that is too small for it. A failed value has no shape of its own
// (frontends/ops/ tensor.h), so an importer that continues after an error may
// read beyond the end of a list, which a build with --config=asan detects.
//
// EMBER_MODELS=FOLDER also tests the ONNX models of at most 200 KB below that
// folder that can be imported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/registry/formats.h"
#include "tests/formats/sample_files.h"

namespace ember::tests {
namespace {

// Returns "" if the import was refused with the error of this operation limit;
// otherwise a description of what happened instead.
std::string Wrong(const StatusOr<graph::Graph>& graph, int64_t limit) {
  const std::string expected = "expected a graph of at most " +
                               std::to_string(limit) +
                               " operations, found more";
  if (graph.ok()) return "expected an error, found a graph";
  const Status& status = graph.status();
  if (status.code() == StatusCode::kResourceExhausted &&
      status.message().find(expected) != std::string_view::npos)
    return "";
  return "expected '" + expected + "', found " + status.ToString();
}

// Imports the file with limits from 0 on until one is enough, and reports each
// limit that fails in another way. Limits up to `dense` are tried one by one;
// above, steps grow with the limit. An importer may try a second way that it
// then discards (for extents that broadcast) and that needs more operations
// than the result. So limits up to twice that number are tried, too. Returns
// the number of limits that were too small.
int64_t RefusedLimits(const SampleFile& file, int64_t dense = INT64_MAX) {
  int64_t refused = 0;
  std::optional<int64_t> enough;
  for (int64_t limit = 0; !enough || limit <= 2 * *enough;
       limit += limit < dense ? 1 : std::max<int64_t>(limit / 16, 1)) {
    const auto graph = Import(file, {.operation_limit = limit});
    if (graph.ok()) {
      if (!enough) enough = limit;
      continue;
    }
    EXPECT_FALSE(enough) << file.path << ", limit " << limit << ": "
                         << enough.value_or(-1) << " was enough";
    EXPECT_EQ(Wrong(graph, limit), "") << file.path << ", limit " << limit;
    ++refused;
    if (limit >= graph::kOperationLimit) break;
  }
  return refused;
}

TEST(OperationLimit, OtherResultsAreWrong) {
  const Status right = ResourceExhaustedError(
      "model 'm': 'add (Add)': expected a graph of at most 3 operations, found "
      "more");
  EXPECT_EQ(Wrong(right, 3), "");
  EXPECT_NE(Wrong(right, 4), "");
  EXPECT_NE(Wrong(InvalidArgumentError(std::string(right.message())), 3), "");
  EXPECT_NE(Wrong(ResourceExhaustedError("expected memory, found none"), 3),
            "");
  EXPECT_NE(Wrong(graph::Graph("main"), 3), "");
}

TEST(OperationLimit, IsTheErrorOfEverySampleWhereItIsTooSmall) {
  int files = 0;
  int64_t limits = 0;
  std::map<std::string_view, int64_t> limits_of;
  for (const SampleFile& file : SampleFiles()) {
    // The model must import without a limit. Otherwise the search for the first
    // sufficient limit would not end.
    const auto graph = Import(file);
    ASSERT_TRUE(graph.ok()) << file.path << ": " << graph.status().ToString();
    const int64_t refused = RefusedLimits(file);
    ++files;
    limits += refused;
    limits_of[file.format] += refused;
  }
  std::cout << files << " files, " << limits << " limits\n";
  for (const frontends::Format* format : frontends::Formats())
    EXPECT_GT(limits_of[format->name], 0) << format->name;
}

TEST(OperationLimit, IsTheErrorOfTheModelsBelowAFolder) {
  const char* const folder = std::getenv("EMBER_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "EMBER_MODELS names no folder";
  constexpr uintmax_t kMaxBytes = 200'000;
  constexpr int64_t kDense = 200;
  std::vector<std::string> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".onnx" &&
        entry.file_size() <= kMaxBytes)
      paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  int files = 0, others = 0;
  int64_t limits = 0;
  for (const std::string& path : paths) {
    const SampleFile file{"onnx", path};
    if (!Import(file).ok()) {
      ++others;
      continue;
    }
    limits += RefusedLimits(file, kDense);
    ++files;
    if (files % 100 == 0)
      std::cout << files << " files, " << limits << " limits" << std::endl;
  }
  std::cout << files << " files, " << limits << " limits; " << others
            << " files that cannot be imported\n";
  EXPECT_GT(files, 0);
  EXPECT_GT(limits, 0);
}

}  // namespace
}  // namespace ember::tests
