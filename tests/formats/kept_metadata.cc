#include "tests/formats/kept_metadata.h"

#include <utility>

#include "compiler/compile.h"
#include "compiler/graph/text/text.h"
#include "gtest/gtest.h"
#include "vm/format/reader.h"
#include "vm/format/writer.h"

namespace ember::tests {
namespace {

StatusOr<graph::Metadata> ThroughText(const graph::Graph& graph) {
  EMBER_ASSIGN_OR_RETURN(const graph::Graph again,
                         graph::Parse(graph::Print(graph)));
  return again.metadata();
}

StatusOr<graph::Metadata> ThroughFile(graph::Graph graph) {
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition module,
                         compiler::Compile(std::move(graph), {}));
  EMBER_ASSIGN_OR_RETURN(const std::vector<uint8_t> file,
                         vm::SerializeModule(module));
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition read,
                         vm::ReadModule(file, nullptr));
  graph::Metadata metadata;
  for (const vm::MetadataEntry& entry : read.metadata)
    metadata.emplace(entry.key, entry.value);
  return metadata;
}

}  // namespace

graph::Metadata KeptMetadata(StatusOr<graph::Graph> graph) {
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  if (!graph.ok()) return {};
  const graph::Metadata metadata = graph->metadata();
  const StatusOr<graph::Metadata> parsed = ThroughText(*graph);
  const StatusOr<graph::Metadata> read = ThroughFile(*std::move(graph));
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  if (!parsed.ok() || !read.ok()) return {};
  EXPECT_EQ(*parsed, metadata);
  EXPECT_EQ(*read, metadata);
  return metadata;
}

}  // namespace ember::tests
