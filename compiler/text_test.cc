// Runs the text tests of passes and of the whole compiler:
// compiler/testdata/*.txt, each
//
//   # free text: what is shown
//   run: sink-transposes            passes in order; "form-dispatches" prints
//                                   dispatches and program
//   ---
//   graph @main(...) ... { ... }
//   ---
//   what is expected
//
// To write the expectations anew (then read them!):
//   bazel run //compiler:text_test -- --bless=$PWD/compiler/testdata
#include "compiler/graph/text/text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/graph/verifier.h"
#include "compiler/pipeline.h"
#include "gtest/gtest.h"
#include "vm/isa/text.h"

namespace ember::compiler {
namespace {

std::string& BlessFolder() {
  static std::string folder;
  return folder;
}

struct Case {
  // The first lines of the case's file: its comment and the line "run: …".
  std::string head;
  std::vector<std::string> passes;
  std::string input;
  std::string expected;
};

constexpr std::string_view kSeparator = "---\n";

Case ReadCase(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  const std::string all = text.str();
  Case result;
  const size_t first = all.find(kSeparator);
  const size_t second = all.find(kSeparator, first + kSeparator.size());
  EXPECT_NE(first, std::string::npos) << path << ": no '---' line";
  if (first == std::string::npos) return result;
  result.head = all.substr(0, first);
  result.input =
      all.substr(first + kSeparator.size(), second - first - kSeparator.size());
  if (second != std::string::npos)
    result.expected = all.substr(second + kSeparator.size());
  const size_t run = result.head.find("run: ");
  EXPECT_NE(run, std::string::npos) << path << ": no 'run: ' line";
  std::istringstream names(
      result.head.substr(run + 5, result.head.find('\n', run) - run - 5));
  for (std::string name; names >> name;) result.passes.push_back(name);
  return result;
}

StatusOr<std::string> RunCase(const Case& test) {
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, graph::Parse(test.input));
  for (const std::string& name : test.passes) {
    if (name == "form-dispatches") {
      CompileOptions options;
      for (const PipelineStep& pass : GraphPipeline())
        options.disabled_passes.emplace(pass.name);
      EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
                             Compile(std::move(graph), options));
      return vm::PrintModule(module);
    }
    if (name == "all") {
      for (const PipelineStep& pass : GraphPipeline()) {
        EMBER_RETURN_IF_ERROR(RunPass(pass, graph));
        EMBER_RETURN_IF_ERROR(graph::Verify(graph));
      }
      continue;
    }
    const auto passes = GraphPipeline();
    const auto pass = std::find_if(
        passes.begin(), passes.end(),
        [&](const PipelineStep& candidate) { return candidate.name == name; });
    if (pass == passes.end())
      return InvalidArgumentError("no pass '" + name + "'");
    EMBER_RETURN_IF_ERROR(pass->pass(graph));
    EMBER_RETURN_IF_ERROR(graph::Verify(graph));
  }
  return graph::Print(graph);
}

TEST(CompilerTextTest, AllFiles) {
  const std::string folder =
      BlessFolder().empty() ? "compiler/testdata" : BlessFolder();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    SCOPED_TRACE(entry.path().string());
    ++count;
    Case test = ReadCase(entry.path());
    const StatusOr<std::string> actual = RunCase(test);
    // The passes may return an error. Its message is then compared with the
    // expected text, like a result.
    const std::string text =
        actual.ok() ? *actual : actual.status().ToString() + "\n";
    if (!BlessFolder().empty()) {
      std::ofstream(entry.path())
          << test.head << kSeparator << test.input << kSeparator << text;
      continue;
    }
    EXPECT_EQ(text, test.expected);
  }
  EXPECT_GT(count, 0) << "no text tests in " << folder;
}

}  // namespace
}  // namespace ember::compiler

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    constexpr std::string_view kBless = "--bless=";
    const std::string_view argument = argv[i];
    if (argument.substr(0, kBless.size()) == kBless) {
      ember::compiler::BlessFolder() = argument.substr(kBless.size());
    }
  }
  return RUN_ALL_TESTS();
}
