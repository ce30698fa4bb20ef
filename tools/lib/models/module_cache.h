// Keeps the modules of large models on disk, so that a model is compiled once
// and later processes map its module.
//
//   const ModuleCache cache("model.gguf", load, DefaultModuleCacheOptions());
//   std::optional<LoadedModel> model = cache.Load();
//   if (!model) {
//     EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
//                            CompileModel("model.gguf", load));
//     EMBER_ASSIGN_OR_RETURN(model, cache.Keep(std::move(definition)));
//   }
//
// A module is found again if the model's files have the same paths, sizes and
// times of change, the options of the import are equal, and the tool is of the
// same build. The folder is one that other users cannot write to
// (base/private_folder.h), and a module in it is verified when it is loaded,
// like any module. Beside each module there is a folder, MODULE.packed, in
// which the JIT keeps constants in the order of its kernels
// (jit/kernel/kept_constants.h). If the folder grows beyond its limit, the
// modules that have not been used for longest are removed. A module that cannot
// be written is no error: the model runs from memory, and a line on stderr says
// why. Several processes may use one folder. A ModuleCache does not change: it
// is thread-safe.
#ifndef EMBER_TOOLS_LIB_MODELS_MODULE_CACHE_H_
#define EMBER_TOOLS_LIB_MODELS_MODULE_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/model_source.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

struct ModuleCacheOptions {
  // The folder, which is made if it does not exist. Empty: nothing is kept.
  std::string folder;
  // Largest number of bytes in the folder. A larger module is not kept.
  int64_t max_bytes = int64_t{32} << 30;
  // A smaller model is compiled each time, which takes milliseconds.
  int64_t min_model_bytes = int64_t{16} << 20;
  // True: no line on stderr says why a module is not kept.
  bool is_quiet = false;
};

// Returns the user's location: ember/models in $XDG_CACHE_HOME or ~/.cache. If
// $EMBER_CACHE is set, it is `models` in that folder, or none if the variable
// is empty. Without a home folder there is none.
ModuleCacheOptions DefaultModuleCacheOptions();

struct ModuleCacheFlags {
  std::string folder;
  double gigabytes = 32;
};

// Declares --model-cache and --model-cache-gb. `values` must outlive the
// parsing.
void AddModuleCacheFlags(Flags& flags, ModuleCacheFlags* values);

ModuleCacheOptions ModuleCacheOptionsOf(const ModuleCacheFlags& flags);

class ModuleCache {
 public:
  // Nothing is kept for a source that is a module, a small model, no file or a
  // model in memory, nor if the options give values of inputs.
  ModuleCache(const ModelSource& source, const LoadOptions& load,
              const ModuleCacheOptions& options);
  // path: the model as the user typed it (tools/lib/cli/paths.h).
  ModuleCache(const std::string& path, const LoadOptions& load,
              const ModuleCacheOptions& options)
      : ModuleCache(ModelSource::OfUserPath(path), load, options) {}

  // Returns the module of an earlier process; nullopt if there is none that can
  // be loaded.
  std::optional<LoadedModel> Load() const;

  // True if Keep will write the module.
  bool keeps() const { return !file_.empty(); }
  // Returns one line for the user before the model is compiled: the disk space
  // and the time that this takes.
  std::string Announcement() const;
  // Writes the module and returns it mapped.
  StatusOr<LoadedModel> Keep(vm::ModuleDefinition definition) const;

 private:
  Status Write(const vm::ModuleDefinition& definition) const;
  StatusOr<LoadedModel> Map() const;
  void Evict() const;
  // Removes a module and its packed constants.
  void Remove(const std::string& name) const;

  const std::string name_;  // The model's name in messages.
  const ModuleCacheOptions options_;
  int64_t model_bytes_ = 0;
  std::string file_;  // The name of the module's file; empty: nothing is kept.
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_MODULE_CACHE_H_
