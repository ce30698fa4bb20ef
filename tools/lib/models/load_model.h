// Loads the model that a user names: a compiled module, the text of a dispatch
// or module (text_module.h), or a model in one of the formats of
// frontends/registry/formats.h, which is compiled in memory.
//
//   EMBER_ASSIGN_OR_RETURN(LoadedModel model, LoadModel("resnet50.onnx", {}));
//   vm::Session::Create(model.module, ...);
//
// The kind of a file is recognised by its contents. Errors are one line that
// begins with the file's name.
#ifndef EMBER_TOOLS_LIB_MODELS_LOAD_MODEL_H_
#define EMBER_TOOLS_LIB_MODELS_LOAD_MODEL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "compiler/compile_options.h"
#include "compiler/graph/graph.h"
#include "tools/lib/cli/show_progress.h"
#include "tools/lib/models/model_source.h"
#include "tools/lib/tensors/spec.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/module.h"

namespace ember::tools {

struct LoadOptions {
  // The fields of this struct, except those for progress, apply only if a model
  // is compiled; a module ignores or refuses them.
  std::vector<NamedShape> shapes;  // dims of inputs that are fixed when the
                                   // model is imported (--shape)
  // Named inputs that become constants of the module, with their values.
  std::vector<NamedTensor> values;
  // The values of --input (tools/lib/tensors/spec.h). If the model does not
  // give the rank or the element type of an input, the rank or type of its
  // value is used. An optional input exists only if it has a value.
  std::vector<std::string> inputs;
  std::string entry;                // frontends::ImportOptions::entry
  bool separate_dims = false;       // frontends::ImportOptions::separate_dims
  std::optional<DType> state_type;  // frontends::ImportOptions::state_type
  // Options of the compiler. `compile.progress` also receives the events of
  // importing a model and of loading a module.
  compiler::CompileOptions compile;
  // The display of progress that is used as compile.progress, or null. The
  // functions below clear it before they return.
  std::shared_ptr<ShownProgress> progress;
  // Receives notes for the user about an import that succeeded, one line each,
  // without the model's name. If it is empty, notes are printed to stderr.
  std::function<void(std::string_view line)> note;
};

// Imports a model. Paths are as the user typed them (tools/lib/cli/paths.h).
StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const LoadOptions& options);
// Returns the names of the inputs that must be given, in the model's order. It
// also works for models that cannot be imported.
StatusOr<std::vector<std::string>> ModelInputNames(const std::string& path,
                                                   const LoadOptions& options);

struct LoadedModel {
  std::shared_ptr<const vm::Module> module;
  // Milliseconds that loading the model took, including its compilation.
  double load_ms = 0;
  bool compiled_here = false;
};

StatusOr<LoadedModel> LoadModel(const std::string& path,
                                const LoadOptions& options);
StatusOr<LoadedModel> LoadModel(const ModelSource& source,
                                const LoadOptions& options);

// Imports and compiles a model, or reads a text. Error: the file is a module.
StatusOr<vm::ModuleDefinition> CompileModel(const std::string& path,
                                            const LoadOptions& options);
StatusOr<vm::ModuleDefinition> CompileModel(const ModelSource& source,
                                            const LoadOptions& options);
// Loads a module or compiles a model, and returns its definition, for tools
// that print or change a module without running it.
StatusOr<vm::ModuleDefinition> LoadDefinition(const std::string& path,
                                              const LoadOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_LOAD_MODEL_H_
