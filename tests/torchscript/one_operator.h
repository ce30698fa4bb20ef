// Runs TorchScript code end to end: makes an archive of it, imports, compiles
// and executes that, with operands and results written as numbers.
//
//   ExpectTorch("torch.relu(x0)", {F32({2}, {-2, 3})}, {F32({2}, {0, 3})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_TORCHSCRIPT_ONE_OPERATOR_H_
#define EMBER_TESTS_TORCHSCRIPT_ONE_OPERATOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontends/frontend.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

// Makes an archive of a module without attributes. Its forward takes x0, x1 …
// of the types and shapes of the numbers, and has this body: "return x0", or
// lines separated by line feeds.
std::string TorchArchive(const std::string& body,
                         const std::vector<Numbers>& inputs);

// Like TorchArchive, but the archive records no example inputs, as
// torch.jit.script leaves none: the import options give `count` shapes.
std::string ScriptedTorchArchive(const std::string& body, size_t count);

// Imports, compiles and runs an archive. Returns all results.
StatusOr<std::vector<Numbers>> RunTorchArchive(
    const std::string& archive, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options = {});
StatusOr<std::vector<Numbers>> RunTorch(const std::string& body,
                                        const std::vector<Numbers>& inputs);

// Runs an expression and expects these results.
void ExpectTorch(const std::string& expression,
                 const std::vector<Numbers>& inputs,
                 const std::vector<Numbers>& expected, double tolerance = 1e-5);

}  // namespace ember::tests

#endif  // EMBER_TESTS_TORCHSCRIPT_ONE_OPERATOR_H_
