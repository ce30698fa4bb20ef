// Runs programs of torch.export end to end: imports, compiles and executes an
// archive, with operands and results written as numbers.
//
//   ExpectNode("aten.relu.default", {torch_export::Tensor("x0")},
//              {F32({2}, {-2, 3})}, {F32({2}, {0, 3})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_TORCH_EXPORT_ONE_NODE_H_
#define EMBER_TESTS_TORCH_EXPORT_ONE_NODE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/torch_export/testing/program_builder.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

StatusOr<graph::Graph> ImportArchive(
    const std::string& archive, const frontends::ImportOptions& options = {});
StatusOr<std::vector<Numbers>> RunArchive(
    const std::string& archive, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});

// Runs one node, whose inputs are called x0, x1 …, and expects that its first
// results are `expected`. `unread` is the number of its other results.
void ExpectNode(const std::string& target,
                const std::vector<torch_export::Given>& arguments,
                const std::vector<Numbers>& inputs,
                const std::vector<Numbers>& expected, size_t unread = 0);

// Expects that the import fails with an error of one line that contains `part`.
void ExpectImportError(const std::string& archive, const std::string& part,
                       const frontends::ImportOptions& options = {});

}  // namespace ember::tests

#endif  // EMBER_TESTS_TORCH_EXPORT_ONE_NODE_H_
