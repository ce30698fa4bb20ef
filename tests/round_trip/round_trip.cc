// Tests parse(print(x)) == x for graph, dispatch and program text, over real
// models:
//
//   bazel run //tests/round_trip -- ../shared/corpus/models/onnx
//       ../shared/corpus/onnx-light
//
// Every *.onnx below the given folders that the frontend accepts is imported
// and compiled, with the dims of its recorded data if it is refused without
// them. Each form is printed, parsed, and compared as a value and as text. The
// last line is "N passed, N failed".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/compile.h"
#include "compiler/graph/equal.h"
#include "compiler/graph/text/text.h"
#include "frontends/onnx/import/import.h"
#include "tensor/text/text.h"
#include "tests/onnx/run_case.h"
#include "vm/isa/text.h"

namespace ember {
namespace {

struct Counts {
  int graphs = 0;
  // number of models that import only with the dims of their recorded data
  int pinned = 0;
  int dispatches = 0;
  int programs = 0;
};

Status CheckGraph(const graph::Graph& graph, std::string_view when) {
  const std::string text = graph::Print(graph);
  StatusOr<graph::Graph> parsed = graph::Parse(text);
  if (!parsed.ok())
    return parsed.status().WithContext(std::string(when) + " graph");
  if (!graph::Equal(graph, *parsed))
    return InternalError(std::string(when) + " graph differs");
  if (graph::Print(*parsed) != text)
    return InternalError(std::string(when) + " text differs");
  return OkStatus();
}

// Imports a model with open dims or, if that is refused, with the dims of its
// recorded data.
StatusOr<graph::Graph> Import(const std::string& path, Counts* counts) {
  StatusOr<graph::Graph> open = onnx::ImportModel(path, {});
  if (open.ok()) return open;
  const auto set =
      std::filesystem::path(path).parent_path() / "test_data_set_0";
  if (!std::filesystem::exists(set)) return open;
  onnx::ImportOptions options;
  EMBER_RETURN_IF_ERROR(tests::PinShapes(path, set.string(), options));
  StatusOr<graph::Graph> pinned = onnx::ImportModel(path, options);
  if (!pinned.ok()) return open;
  ++counts->pinned;
  return pinned;
}

Status CheckModel(const std::string& path, Counts* counts) {
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, Import(path, counts));
  EMBER_RETURN_IF_ERROR(CheckGraph(graph, "imported"));
  ++counts->graphs;
  compiler::CompileOptions options;
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
                         compiler::Compile(std::move(graph), options));
  for (const tensor::Dispatch& dispatch : module.dispatches) {
    const std::string text = tensor::Print(dispatch);
    StatusOr<tensor::Dispatch> parsed = tensor::Parse(text);
    if (!parsed.ok())
      return parsed.status().WithContext("dispatch @" + dispatch.name);
    if (!(*parsed == dispatch))
      return InternalError("dispatch @" + dispatch.name + " differs");
    ++counts->dispatches;
  }
  for (const vm::Program& program : module.programs) {
    StatusOr<vm::Program> parsed =
        vm::ParseProgram(vm::PrintProgram(program, module), module);
    if (!parsed.ok())
      return parsed.status().WithContext("program " + program.name);
    if (!(*parsed == program))
      return InternalError("program " + program.name + " differs");
    ++counts->programs;
  }
  return OkStatus();
}

}  // namespace
}  // namespace ember

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: round_trip FOLDER...   (folders with .onnx models)\n");
    return 2;
  }
  // `bazel run` starts in another folder; paths are relative to the user's
  // folder.
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY")) {
    std::filesystem::current_path(folder);
  }
  ember::Counts counts;
  int passed = 0, failed = 0, refused = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<std::string> paths;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.path().extension() == ".onnx")
        paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      const ember::Status status = ember::CheckModel(path, &counts);
      if (status.ok()) {
        ++passed;
      } else if (status.code() == ember::StatusCode::kUnimplemented) {
        // This build does not support the model, so there is no text to check.
        ++refused;
      } else {
        ++failed;
        std::printf("%s: %s\n", path.c_str(), status.ToString().c_str());
      }
    }
  }
  std::printf(
      "%d graphs (%d with pinned dims), %d dispatches, %d programs; %d models "
      "not supported\n",
      counts.graphs, counts.pinned, counts.dispatches, counts.programs,
      refused);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}
