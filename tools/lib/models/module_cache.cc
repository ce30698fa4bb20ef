#include "tools/lib/models/module_cache.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/build_id.h"
#include "base/dtype.h"
#include "base/private_folder.h"
#include "base/sha256.h"
#include "compiler/compile.h"
#include "jit/cache/options.h"
#include "tools/lib/cli/paths.h"
#include "vm/format/writer.h"

namespace ember::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModuleEnd = ".vmfb";
// A module needs about as many bytes as its model. This many times the model's
// bytes must be free, so that other programs keep some space.
constexpr double kFreeShare = 1.2;
// Bytes of a model that are imported, compiled and written in a second: 442 MB
// took 2.9 s, and 234 MB took 1.5 s, on two cores of an EPYC (Zen 3) that other
// work used too.
constexpr double kBytesPerSecond = 1.5e8;

// A file of the model: everything by which a change of it is noticed.
struct ModelPart {
  std::string path;
  int64_t bytes = 0;
  int64_t changed = 0;
};

std::optional<ModelPart> PartAt(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  ModelPart part;
  part.path = path.string();
  part.bytes = static_cast<int64_t>(fs::file_size(path, error));
  if (error) return std::nullopt;
  part.changed = static_cast<int64_t>(
      fs::last_write_time(path, error).time_since_epoch().count());
  if (error) return std::nullopt;
  return part;
}

// Returns the files that the model may consist of, in the order of their paths:
// a GGUF file alone, or else all files of its folder. A model of several GGUF
// files has names with "-of-".
std::vector<ModelPart> PartsOf(const std::string& path) {
  std::error_code error;
  const fs::path named = fs::weakly_canonical(UserPath(path), error);
  if (error) return {};
  const bool is_folder = fs::is_directory(named, error);
  const bool is_alone =
      !is_folder && named.extension() == ".gguf" &&
      named.filename().string().find("-of-") == std::string::npos;
  std::vector<ModelPart> parts;
  if (is_alone) {
    if (std::optional<ModelPart> part = PartAt(named))
      parts.push_back(*std::move(part));
    return parts;
  }
  for (fs::directory_iterator
           entry(is_folder ? named : named.parent_path(), error),
       end;
       !error && entry != end; entry.increment(error)) {
    if (std::optional<ModelPart> part = PartAt(entry->path()))
      parts.push_back(*std::move(part));
  }
  if (error) return {};
  std::ranges::sort(parts, {}, &ModelPart::path);
  return parts;
}

int64_t BytesOf(const std::vector<ModelPart>& parts) {
  int64_t bytes = 0;
  for (const ModelPart& part : parts) bytes += part.bytes;
  return bytes;
}

// Returns the key of a module: equal keys mean equal modules.
std::string KeyOf(const std::vector<ModelPart>& parts, const std::string& build,
                  const std::string& path, const LoadOptions& load) {
  std::string text;
  // A length before each text keeps different lists of texts apart.
  const auto add = [&text](std::string_view part) {
    text += std::to_string(part.size()) + ":" + std::string(part);
  };
  const auto add_number = [&add](int64_t value) { add(std::to_string(value)); };
  add(build);
  add(path);
  for (const ModelPart& part : parts) {
    add(part.path);
    add_number(part.bytes);
    add_number(part.changed);
  }
  add(load.entry);
  add_number(load.separate_dims ? 1 : 0);
  add(load.state_type ? DTypeName(*load.state_type) : "");
  for (const NamedShape& shape : load.shapes) {
    add(shape.name);
    add(shape.type ? DTypeName(*shape.type) : "");
    add_number(static_cast<int64_t>(shape.dims.size()));
    for (const std::optional<int64_t>& dim : shape.dims)
      add(dim ? std::to_string(*dim) : "?");
  }
  return ToHex(Sha256({text}));
}

std::string SizeText(int64_t bytes) {
  return std::to_string((bytes + 999999) / 1000000) + " MB";
}

bool IsModule(const std::string& path) {
  StatusOr<OpenedModel> opened = OpenModel(ModelSource::OfUserPath(path));
  return !opened.ok() || opened->kind.is_module;
}

}  // namespace

ModuleCacheOptions DefaultModuleCacheOptions() {
  ModuleCacheOptions options;
  const std::string kernels = jit::DefaultCacheOptions().folder;
  if (kernels.empty()) return options;
  // The default folder of kernels is ember/kernels.
  options.folder = std::getenv("EMBER_CACHE") != nullptr
                       ? kernels + "/models"
                       : (fs::path(kernels).parent_path() / "models").string();
  return options;
}

void AddModuleCacheFlags(Flags& flags, ModuleCacheFlags* values) {
  flags.Add("model-cache", &values->folder, "DIR|off",
            "Compiles a model once and keeps its module in this folder, which "
            "takes as much disk as the\n"
            "model. Later processes map the module. Default: "
            "~/.cache/ember/models ($EMBER_CACHE/models if\n"
            "that is set, nothing if it is empty), for models of at least 16 "
            "MiB.");
  flags.Add("model-cache-gb", &values->gigabytes, "N",
            "Limits the size of the folder. The modules that have not been "
            "used for longest are removed.");
}

ModuleCacheOptions ModuleCacheOptionsOf(const ModuleCacheFlags& flags) {
  ModuleCacheOptions options = DefaultModuleCacheOptions();
  if (flags.folder == "off") {
    options.folder.clear();
  } else if (!flags.folder.empty()) {
    options.folder = UserPath(flags.folder);
    options.min_model_bytes = 0;
  }
  // Largest number of gigabytes, whose number of bytes does not overflow.
  constexpr double kMax = 1e6;
  options.max_bytes =
      static_cast<int64_t>(std::clamp(flags.gigabytes, 0.0, kMax) * 1e9);
  return options;
}

ModuleCache::ModuleCache(const std::string& path, const LoadOptions& load,
                         const ModuleCacheOptions& options)
    : path_(path), options_(options) {
  if (options.folder.empty() || !load.values.empty() || !load.inputs.empty())
    return;
  // The compiler's code decides what is in a module. Without an identity of it
  // no module is found again.
  const std::string build =
      BuildIdAt(reinterpret_cast<const void*>(&compiler::Compile));
  const std::vector<ModelPart> parts = PartsOf(path);
  model_bytes_ = BytesOf(parts);
  if (build.empty() || parts.empty() ||
      model_bytes_ < options.min_model_bytes ||
      model_bytes_ > options.max_bytes || IsModule(path))
    return;
  std::error_code error;
  const std::string named = fs::weakly_canonical(UserPath(path), error);
  if (error) return;
  file_ = KeyOf(parts, build, named, load) + std::string(kModuleEnd);
}

StatusOr<LoadedModel> ModuleCache::Map() const {
  ModelSource source{.name = path_, .path = options_.folder + "/" + file_};
  return LoadModel(source, {});
}

std::optional<LoadedModel> ModuleCache::Load() const {
  std::error_code error;
  if (!keeps() || !fs::exists(options_.folder + "/" + file_, error))
    return std::nullopt;
  // Opening checks that no other user may have written the file.
  StatusOr<PrivateFolder> folder = PrivateFolder::Open(options_.folder);
  if (!folder.ok()) return std::nullopt;
  StatusOr<LoadedModel> model = Map();
  if (!model.ok()) {
    // A damaged module is replaced by the next one.
    folder->Remove(file_);
    return std::nullopt;
  }
  fs::last_write_time(options_.folder + "/" + file_,
                      fs::file_time_type::clock::now(), error);
  return *std::move(model);
}

std::string ModuleCache::Announcement() const {
  char seconds[32];
  std::snprintf(
      seconds, sizeof(seconds), "%.0f",
      std::max(1.0, static_cast<double>(model_bytes_) / kBytesPerSecond));
  return path_ + ": compiling once, about " + seconds +
         " s; the module is kept in " + options_.folder + ", about " +
         SizeText(model_bytes_) + " (--model-cache=off keeps none)";
}

Status ModuleCache::Write(const vm::ModuleDefinition& definition) const {
  EMBER_RETURN_IF_ERROR(PrivateFolder::Open(options_.folder).status());
  std::error_code error;
  const fs::space_info space = fs::space(options_.folder, error);
  const auto needed =
      static_cast<int64_t>(kFreeShare * static_cast<double>(model_bytes_));
  if (!error && space.available < static_cast<uintmax_t>(needed)) {
    return ResourceExhaustedError(
        options_.folder + ": expected " + SizeText(needed) +
        " of free disk space, found " +
        SizeText(static_cast<int64_t>(space.available)) +
        "; choose another folder with --model-cache=DIR");
  }
  return vm::WriteModule(definition, options_.folder + "/" + file_);
}

StatusOr<LoadedModel> ModuleCache::Keep(vm::ModuleDefinition definition) const {
  Status status = keeps() ? Write(definition) : OkStatus();
  if (keeps() && status.ok()) {
    definition = {};  // The memory is free before the module is mapped.
    Evict();
    return Map();
  }
  if (!status.ok()) {
    std::fprintf(stderr, "%s: note: the module is not kept: %s\n",
                 path_.c_str(), std::string(status.message()).c_str());
  }
  LoadedModel model;
  EMBER_ASSIGN_OR_RETURN(model.module,
                         vm::Module::FromDefinition(std::move(definition)));
  model.compiled_here = true;
  return model;
}

void ModuleCache::Evict() const {
  StatusOr<PrivateFolder> folder = PrivateFolder::Open(options_.folder);
  if (!folder.ok()) return;
  std::vector<PrivateFolder::File> files = folder->List();
  std::ranges::sort(files, std::greater(), &PrivateFolder::File::used_ns);
  int64_t bytes = 0;
  for (const PrivateFolder::File& file : files) {
    bytes += file.bytes;
    if (bytes > options_.max_bytes && file.name != file_)
      folder->Remove(file.name);
  }
}

}  // namespace ember::tools
