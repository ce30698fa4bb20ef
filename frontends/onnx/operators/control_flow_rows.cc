// The rows of control flow. Nodes with subgraphs need the importer's scopes, so
// they are handled before a row's function would be called
// (frontends/onnx/import/control_flow.cc,
// frontends/onnx/generation/generation.h).
#include "frontends/onnx/operators/families.h"

namespace ember::onnx {
namespace {

void ImportWithScopes(NodeContext& c) {
  c.FailInvalid("expected a condition or subgraph, found none");
}

constexpr OperatorRow kRows[] = {
    {"If", 1, 1, 1, ImportWithScopes},
    {"Loop", 1, 2, kVariadic, ImportWithScopes},
    {"Scan", 8, 1, kVariadic, ImportWithScopes},
    {"SequenceMap", 17, 1, kVariadic, ImportWithScopes},
    {"BeamSearch", 1, 1, 12, ImportWithScopes, "com.microsoft"},
    {"GreedySearch", 1, 1, 7, ImportWithScopes, "com.microsoft"},
    {"Sampling", 1, 1, 9, ImportWithScopes, "com.microsoft"},
};

}  // namespace

std::span<const OperatorRow> ControlFlowOperators() { return kRows; }

}  // namespace ember::onnx
