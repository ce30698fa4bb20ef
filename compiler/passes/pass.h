// A graph pass: Graph → Graph, one file pair and one line in the pipeline
// (compiler/pipeline.cc).
//
// A pass leaves a graph that verifies, or returns an error naming the
// operation. It must not depend on running only once; running it again on its
// own result changes nothing.
#ifndef EMBER_COMPILER_PASSES_PASS_H_
#define EMBER_COMPILER_PASSES_PASS_H_

#include <string_view>

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

struct Pass {
  std::string_view name;
  std::string_view doc;
  Status (*run)(graph::Graph& graph);
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_PASS_H_
