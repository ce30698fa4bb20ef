#include "tests/import_cases/run_import_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "tests/formats/numbers.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;

vm::Tensor MakeOperand(const CaseTensor& operand) {
  if (!operand.is_strings) return MakeTensor(operand.numbers);
  StatusOr<vm::Tensor> tensor =
      vm::Tensor::OfStrings(operand.numbers.dims, operand.strings);
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  return *std::move(tensor);
}

void ExpectResults(const ImportCase& one,
                   const StatusOr<std::vector<vm::Tensor>>& results) {
  if (!one.error.empty()) {
    ASSERT_FALSE(results.ok()) << "expected error: " << one.error;
    EXPECT_THAT(std::string(results.status().message()),
                ::testing::HasSubstr(one.error));
    return;
  }
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), one.results.size());
  for (size_t i = 0; i < one.results.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    const CaseTensor& expected = one.results[i];
    const vm::Tensor& result = (*results)[i];
    if (expected.is_strings) {
      ExpectStrings(result, expected.numbers.dims, expected.strings);
    } else {
      ExpectNumbers(std::vector<Numbers>{ReadNumbers(result)},
                    {expected.numbers}, one.within);
    }
  }
}

class ImportCaseTest : public ::testing::Test {
 public:
  ImportCaseTest(ImportCase one, CaseImporter importer)
      : case_(std::move(one)), importer_(importer) {}

  void TestBody() override {
    const ::testing::ScopedTrace trace(case_.path.c_str(), case_.line,
                                       case_.op);
    std::vector<vm::Tensor> inputs;
    for (const CaseTensor& operand : case_.operands) {
      if (!operand.is_absent && !operand.is_constant)
        inputs.push_back(MakeOperand(operand));
    }
    ExpectResults(case_, RunGraph(importer_(case_), inputs));
  }

 private:
  const ImportCase case_;
  const CaseImporter importer_;
};

// A test that fails with a message: that a file of cases is missing or does not
// parse.
class FailedTest : public ::testing::Test {
 public:
  explicit FailedTest(std::string message) : message_(std::move(message)) {}
  void TestBody() override { FAIL() << message_; }

 private:
  const std::string message_;
};

void RegisterFailure(const std::string& name, const std::string& message) {
  ::testing::RegisterTest(
      "Cases", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [message]() -> FailedTest* { return new FailedTest(message); });
}

// Returns the name of a case's test: "shapes/Squeeze/12".
std::string NameOf(const std::string& file, const ImportCase& one) {
  // The operator may be given as an expression, such as "(torch.unbind(x,
  // 0))[1]"; only its name becomes part of the test's name.
  const size_t begin = std::min(one.op.find_first_not_of("(["), one.op.size());
  std::string name =
      one.op.substr(begin, one.op.find_first_of("([", begin) - begin);
  // The characters ':' and '-' separate patterns of --gtest_filter, so they are
  // replaced.
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '-' || c == ' '; }, '_');
  return file + "/" + name + "/" + std::to_string(one.line);
}

void RegisterFile(const fs::path& path, CaseImporter importer) {
  const std::string stem = path.stem().string();
  const StatusOr<std::string> text = ReadFile(path.string());
  if (!text.ok()) return RegisterFailure(stem, text.status().ToString());
  const StatusOr<std::vector<ImportCase>> cases =
      ParseImportCases(*text, path.string());
  if (!cases.ok()) return RegisterFailure(stem, cases.status().ToString());
  for (const ImportCase& one : *cases) {
    ::testing::RegisterTest("Cases", NameOf(stem, one).c_str(), nullptr,
                            nullptr, path.c_str(), one.line,
                            [one, importer]() -> ImportCaseTest* {
                              return new ImportCaseTest(one, importer);
                            });
  }
}

}  // namespace

int RunImportCases(int argc, char** argv, const std::string& folder,
                   CaseImporter importer) {
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  if (paths.empty()) RegisterFailure("files", "no .case files in " + folder);
  for (const fs::path& path : paths) RegisterFile(path, importer);
  return RUN_ALL_TESTS();
}

}  // namespace ember::tests
