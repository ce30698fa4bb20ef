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
  // The folder of the cache, which is made if it does not exist. Empty: the
  // cache keeps nothing.
  std::string folder;
  // Largest total size of the folder's files in bytes. A module larger than
  // this is not kept.
  int64_t max_bytes = int64_t{32} << 30;
  // Models with fewer bytes are not kept, because compiling them takes only
  // milliseconds.
  int64_t min_model_bytes = int64_t{16} << 20;
  // True: no line is printed to stderr if a module cannot be kept.
  bool is_quiet = false;
};

// Returns the default folder: ember/models in $XDG_CACHE_HOME, or in ~/.cache.
// If $EMBER_CACHE is set, it is the subfolder `models` of that folder, and none
// if the variable is empty. If the user has no home folder, it is none, too.
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
  // Makes a cache for one model. It keeps nothing if the source is a module, a
  // small model, no file or a model in memory, or if `load` has values of
  // inputs.
  ModuleCache(const ModelSource& source, const LoadOptions& load,
              const ModuleCacheOptions& options);
  // path: the model as the user typed it (tools/lib/cli/paths.h).
  ModuleCache(const std::string& path, const LoadOptions& load,
              const ModuleCacheOptions& options)
      : ModuleCache(ModelSource::OfUserPath(path), load, options) {}

  // Returns the module that an earlier process kept; nullopt if there is none,
  // or if it cannot be loaded.
  std::optional<LoadedModel> Load() const;

  // True if the cache applies to this model, so that Keep will write the
  // module.
  bool keeps() const { return !file_.empty(); }
  // Returns a line that announces the compilation to the user, with the disk
  // space and the time that it will take.
  std::string Announcement() const;
  // Writes the module to the folder and returns it mapped. If that fails,
  // returns the module in memory.
  StatusOr<LoadedModel> Keep(vm::ModuleDefinition definition) const;

 private:
  Status Write(const vm::ModuleDefinition& definition) const;
  StatusOr<LoadedModel> Map() const;
  void Evict() const;
  // Removes a module and its packed constants.
  void Remove(const std::string& name) const;

  const std::string name_;  // name of the model in messages
  const ModuleCacheOptions options_;
  int64_t model_bytes_ = 0;
  std::string file_;  // name of the module's file in the folder; empty: the
                      // cache keeps nothing
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_MODULE_CACHE_H_
