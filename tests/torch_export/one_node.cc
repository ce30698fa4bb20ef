#include "tests/torch_export/one_node.h"

#include <gtest/gtest.h>

#include "frontends/torch_export/import.h"

namespace ember::tests {

StatusOr<graph::Graph> ImportArchive(const std::string& archive,
                                     const frontends::ImportOptions& options) {
  return torch_export::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(archive.data()), archive.size()},
      nullptr, options);
}

StatusOr<std::vector<Numbers>> RunArchive(
    const std::string& archive, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(ImportArchive(archive, options), inputs);
}

void ExpectNode(const std::string& target,
                const std::vector<torch_export::Given>& arguments,
                const std::vector<Numbers>& inputs,
                const std::vector<Numbers>& expected, size_t unread) {
  SCOPED_TRACE(target);
  torch_export::ProgramBuilder program;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<std::string> extents;
    for (const int64_t dim : inputs[i].dims)
      extents.push_back(std::to_string(dim));
    program.Input("x" + std::to_string(i), inputs[i].type, extents);
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < expected.size() + unread; ++i)
    names.push_back("result_" + std::to_string(i));
  program.TupleNode(target, arguments, names);
  for (size_t i = 0; i < expected.size(); ++i) program.Output(names[i]);
  ExpectNumbers(RunArchive(program.Archive(), inputs), expected);
}

void ExpectImportError(const std::string& archive, const std::string& part,
                       const frontends::ImportOptions& options) {
  const StatusOr<graph::Graph> graph = ImportArchive(archive, options);
  const std::string error(graph.ok() ? "imported" : graph.status().message());
  EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

}  // namespace ember::tests
