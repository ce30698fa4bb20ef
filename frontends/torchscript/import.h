// Imports TorchScript archives as graphs: NAME.pt as torch.jit.save writes it.
//
//   frontends::ModelFile file("net.pt");
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, {}));
//
// The graph is the computation of the module's method `forward` (or of the
// method that the options name as entry) in evaluation mode. Inputs have the
// names of its arguments; parts of a tuple are x_0, x_1 …. TorchScript does not
// state the dims of a tensor: the shape must be given, unless the archive has
// the inputs with which it was traced. Element types are f32, or the types that
// the operators that read an input need. Numbers and booleans among the
// arguments are inputs without dims, or constants if a value is given.
// Arguments with a default value have that value unless a shape or value is
// given for them.
//
// Results have the names of the variables that forward returns, or "output".
// Attributes that forward changes are state: inputs and results of the logical
// type frontends::kStateType, with the name of the attribute ("rnn.hidden").
//
// Errors are one line. All unsupported operators in the code that forward can
// reach are listed at once. Thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_IMPORT_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_IMPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"

namespace ember::torchscript {

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options);

// Imports an archive from memory. `owner`: keeps the bytes alive; if null, they
// are copied. `name`: the name of the model in errors.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name = "model");

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options);

// True if a file is an archive that torch.jit.save or torch.save wrote.
bool IsArchive(std::string_view contents);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_IMPORT_H_
