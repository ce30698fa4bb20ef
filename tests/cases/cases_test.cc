// Runs the files of cases in the subfolders: tests/cases/README.md.
//
//   bazel test //tests/cases:cases_test
//   bazel run //tests/cases:cases_test -- --gtest_filter='*/split*'
//   bazel run //tests/cases:cases_test -- --only=spirv
//   ./dev bless tests/cases/primitives/split.case   # writes expectations anew
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/pipeline/pipeline.h"
#include "tests/cases/case_checker.h"
#include "tests/cases/case_file.h"
#include "tests/cases/executor.h"

namespace ember::cases {
namespace {

namespace fs = std::filesystem;

std::string ReadText(const fs::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<fs::path> FindFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Runs the cases of one file, reports their failures, and returns the file's
// text, which --bless may have changed.
std::string RunOne(CaseChecker& checker, const fs::path& path) {
  StatusOr<CaseFile> file = CaseFile::Parse(ReadText(path), path.string());
  EXPECT_TRUE(file.ok()) << file.status().message();
  if (!file.ok()) return "";
  for (const Failure& failure : checker.RunFile(*file)) {
    ADD_FAILURE_AT(failure.path.c_str(), failure.line) << failure.message;
  }
  return file->ToText();
}

class CaseTest : public ::testing::Test {
 public:
  CaseTest(CaseChecker& checker, fs::path path)
      : checker_(checker), path_(std::move(path)) {}
  void TestBody() override { RunOne(checker_, path_); }

 private:
  CaseChecker& checker_;
  const fs::path path_;
};

// Fails if an executor that this machine has ran no case, because a missing run
// would otherwise not be noticed.
class ExecutorsTest : public ::testing::Test {
 public:
  explicit ExecutorsTest(const CaseChecker& checker) : checker_(checker) {}
  void TestBody() override {
    const Counts& counts = checker_.counts();
    for (const Executor& executor : Executors()) {
      const std::string name(executor.name);
      if (counts.missing.contains(name)) continue;
      const auto found = counts.executors.find(name);
      EXPECT_TRUE(found != counts.executors.end() && found->second.runs > 0)
          << name << " ran no case";
    }
  }

 private:
  const CaseChecker& checker_;
};

// Fails unless each pass of the JIT's pipeline has a case of its own.
class PassesTest : public ::testing::Test {
 public:
  void TestBody() override {
    for (const jit::PassInfo& pass : jit::Pipeline()) {
      std::string file(pass.name);
      std::ranges::replace(file, '-', '_');
      const std::string text =
          ReadText("tests/cases/pipeline/" + file + ".case");
      const std::string section = "after " + std::string(pass.name);
      EXPECT_NE(text.find("--- " + section + " "), std::string::npos)
          << "expected a section '" << section << "' in tests/cases/pipeline/"
          << file << ".case";
    }
  }
};

int Bless(CaseChecker& checker, std::vector<fs::path> paths) {
  const char* const workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  const fs::path root = workspace == nullptr ? "." : workspace;
  if (paths.empty()) paths = FindFiles(root / "tests/cases");
  const char* const working = std::getenv("BUILD_WORKING_DIRECTORY");
  for (fs::path path : paths) {
    if (path.is_relative() && working != nullptr) path = working / path;
    const std::string before = ReadText(path);
    const std::string after = RunOne(checker, path);
    if (after == before || after.empty()) continue;
    std::ofstream(path) << after;
    std::printf("wrote %s\n", path.c_str());
  }
  return ::testing::Test::HasFailure() ? 1 : 0;
}

int Main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  CheckerOptions options;
  std::vector<fs::path> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--bless")
      options.bless = true;
    else if (argument.starts_with("--only="))
      options.only.push_back(argument.substr(7));
    else
      paths.emplace_back(argument);
  }
  CaseChecker checker(Executors(), options);
  if (options.bless) return Bless(checker, paths);
  const fs::path folder = "tests/cases";
  if (paths.empty()) paths = FindFiles(folder);
  for (const fs::path& path : paths) {
    const std::string name =
        fs::path(path).lexically_relative(folder).replace_extension().string();
    ::testing::RegisterTest("Cases", name.c_str(), nullptr, nullptr,
                            path.c_str(), 1, [&checker, path]() -> CaseTest* {
                              return new CaseTest(checker, path);
                            });
  }
  ::testing::RegisterTest("Passes", "EachHasACase", nullptr, nullptr, __FILE__,
                          __LINE__,
                          []() -> PassesTest* { return new PassesTest; });
  if (options.only.empty() && ::testing::GTEST_FLAG(filter) == "*") {
    ::testing::RegisterTest(
        "Executors", "EachRanCases", nullptr, nullptr, __FILE__, __LINE__,
        [&checker]() -> ExecutorsTest* { return new ExecutorsTest(checker); });
  }
  const int status = RUN_ALL_TESTS();
  std::fputs(checker.counts().ToText().c_str(), stdout);
  return paths.empty() ? 1 : status;
}

}  // namespace
}  // namespace ember::cases

int main(int argc, char** argv) { return ember::cases::Main(argc, argv); }
