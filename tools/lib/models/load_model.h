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
  // The fields of this struct apply only if a model is compiled; a module
  // ignores or refuses them.
  std::vector<NamedShape> shapes;  // Shapes to which dims of inputs are pinned.
  // Values of inputs that become constants, with the inputs' names.
  std::vector<NamedTensor> values;
  // The values of --input (tools/lib/tensors/spec.h). If the model does not
  // give the rank or the element type of an input, the rank or type of its
  // value is used. An optional input exists only if it has a value.
  std::vector<std::string> inputs;
  std::string entry;                // frontends::ImportOptions::entry
  bool separate_dims = false;       // frontends::ImportOptions::separate_dims
  std::optional<DType> state_type;  // frontends::ImportOptions::state_type
  // Options of the compiler. `compile.progress` also receives the events of the
  // import and of reading a module.
  compiler::CompileOptions compile;
  // The display to which compile.progress points, or null. It is cleared when
  // the model is loaded, imported or compiled.
  std::shared_ptr<ShownProgress> progress;
  // Receives each fact that the user should know although the import
  // succeeded, one line without the model's name. If it is empty, the lines are
  // printed to stderr.
  std::function<void(std::string_view line)> note;
};

// Imports a model. Paths are as the user typed them (tools/lib/cli/paths.h).
StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const LoadOptions& options);
// Returns the names of the inputs that the model needs, in the model's order.
// The model need not be one that can be imported.
StatusOr<std::vector<std::string>> ModelInputNames(const std::string& path,
                                                   const LoadOptions& options);

struct LoadedModel {
  std::shared_ptr<const vm::Module> module;
  // Milliseconds that loading took, including the compilation of a model.
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
// Loads a module or compiles a model, and returns the module's definition. It
// is for tools that print or change parts of a module instead of running it.
StatusOr<vm::ModuleDefinition> LoadDefinition(const std::string& path,
                                              const LoadOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_LOAD_MODEL_H_
