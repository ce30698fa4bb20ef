// Imports TorchScript archives in tests.
//
//   ExpectError(archive, "expected one of 3 constants");
#ifndef EMBER_TESTS_TORCHSCRIPT_IMPORT_ARCHIVE_H_
#define EMBER_TESTS_TORCHSCRIPT_IMPORT_ARCHIVE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/torchscript/import.h"
#include "frontends/torchscript/testing/archive_builder.h"

namespace ember::tests {

// Imports an archive in memory and returns its graph.
inline StatusOr<graph::Graph> Import(
    const std::string& archive, const frontends::ImportOptions& options = {}) {
  return torchscript::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(archive.data()), archive.size()},
      nullptr, options);
}
// Returns the error of the import; "imported" if there is none.
inline std::string ErrorOf(const std::string& archive,
                           const frontends::ImportOptions& options = {}) {
  const StatusOr<graph::Graph> graph = Import(archive, options);
  return graph.ok() ? "imported" : std::string(graph.status().message());
}
// Expects that the import fails with one line that has this part.
inline void ExpectError(const std::string& archive, const std::string& part,
                        const frontends::ImportOptions& options = {}) {
  const std::string error = ErrorOf(archive, options);
  EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

// Returns the archive of a class `Net` with these members.
//
//   Net("  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    "
//       "return x\n")
inline std::string Net(const std::string& members) {
  torchscript::ArchiveBuilder archive;
  archive.Code("class Net(Module):\n" + members);
  return archive.Finish();
}
// Returns the archive of a class whose only method is `forward`.
inline std::string Forward(const std::string& parameters,
                           const std::string& body) {
  return Net("  def forward(self: __torch__.Net" +
             (parameters.empty() ? "" : ",\n    " + parameters) +
             ") -> Tensor:\n" + body);
}

}  // namespace ember::tests

#endif  // EMBER_TESTS_TORCHSCRIPT_IMPORT_ARCHIVE_H_
