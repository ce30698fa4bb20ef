#include "tools/lib/models/module_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

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

constexpr std::string_view kModuleEnd = ".vmfb", kPackedEnd = ".packed";
// A kept model takes about this many times its bytes on disk: once for the
// module, once for the constants that are packed for kernels.
constexpr int64_t kCopies = 2;
// Keeping a model needs this many times its bytes of free disk space, so that
// some space is left for other programs.
constexpr double kFreeShare = 1.2 * kCopies;
// Bytes of a model that are imported, compiled and written per second, for the
// estimate that the user sees. Measured on two cores of an EPYC (Zen 3) with
// other load: 442 MB took 2.9 s, 234 MB took 1.5 s.
constexpr double kBytesPerSecond = 1.5e8;

// One file of the model, with the properties by which a later change of the
// file is noticed.
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

// Returns the files of which the model may consist, sorted by path: only the
// GGUF file if it is a complete one, otherwise all files of its folder. The
// name of a GGUF file that is a part of a model contains "-of-".
std::vector<ModelPart> PartsOf(const std::string& path) {
  std::error_code error;
  const fs::path named = fs::weakly_canonical(path, error);
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

// Returns a key for the module, a hash of everything that the module depends
// on. Equal keys mean equal modules.
std::string KeyOf(const std::vector<ModelPart>& parts, const std::string& build,
                  const std::string& path, const LoadOptions& load) {
  std::string text;
  // The length precedes each text. Without it, different lists of texts could
  // have the same bytes and so the same hash.
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

// Returns the total bytes of the files in a folder; 0 if the folder does not
// exist.
int64_t BytesIn(const std::string& folder) {
  std::error_code error;
  int64_t bytes = 0;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const auto size = static_cast<int64_t>(entry->file_size(ignored));
    if (!ignored) bytes += size;
  }
  return bytes;
}

// Sets the file's time of last access to now, which means "last used". The time
// of last change is kept, because it identifies the file's contents.
void MarkUsed(const std::string& path) {
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  static_cast<void>(::utimensat(AT_FDCWD, path.c_str(), times, 0));
}

// Returns the later one of the file's times of last use and last change, in
// nanoseconds.
int64_t UsedAt(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return std::max(nanoseconds(info.st_atim), nanoseconds(info.st_mtim));
}

bool IsModule(const ModelSource& source) {
  StatusOr<OpenedModel> opened = OpenModel(source);
  return !opened.ok() || opened->kind.is_module;
}

}  // namespace

ModuleCacheOptions DefaultModuleCacheOptions() {
  ModuleCacheOptions options;
  const std::string kernels = jit::DefaultCacheOptions().folder;
  if (kernels.empty()) return options;
  // The kernel cache is in ember/kernels by default, so models are kept in
  // ember/models.
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
  // Upper bound of the flag's number of gigabytes, so that the number of bytes
  // cannot overflow.
  constexpr double kMax = 1e6;
  options.max_bytes =
      static_cast<int64_t>(std::clamp(flags.gigabytes, 0.0, kMax) * 1e9);
  return options;
}

ModuleCache::ModuleCache(const ModelSource& source, const LoadOptions& load,
                         const ModuleCacheOptions& options)
    : name_(source.name), options_(options) {
  if (options.folder.empty() || source.contents || !load.values.empty() ||
      !load.inputs.empty())
    return;
  // The build id is part of the key, because another compiler makes other
  // modules. A program without a build id keeps no modules.
  const std::string build =
      BuildIdAt(reinterpret_cast<const void*>(&compiler::Compile));
  const std::vector<ModelPart> parts = PartsOf(source.path);
  model_bytes_ = BytesOf(parts);
  if (build.empty() || parts.empty() ||
      model_bytes_ < options.min_model_bytes ||
      model_bytes_ > options.max_bytes || IsModule(source))
    return;
  std::error_code error;
  const std::string named = fs::weakly_canonical(source.path, error);
  if (error) return;
  file_ = KeyOf(parts, build, named, load) + std::string(kModuleEnd);
}

StatusOr<LoadedModel> ModuleCache::Map() const {
  ModelSource source{.name = name_, .path = options_.folder + "/" + file_};
  return LoadModel(source, {});
}

std::optional<LoadedModel> ModuleCache::Load() const {
  std::error_code error;
  if (!keeps() || !fs::exists(options_.folder + "/" + file_, error))
    return std::nullopt;
  // PrivateFolder checks that only this user can write to the folder, so the
  // file is trusted to be Ember's own.
  StatusOr<PrivateFolder> folder = PrivateFolder::Open(options_.folder);
  if (!folder.ok()) return std::nullopt;
  StatusOr<LoadedModel> model = Map();
  if (!model.ok()) {
    // A damaged module is deleted; the next Keep writes a new one.
    Remove(file_);
    return std::nullopt;
  }
  MarkUsed(options_.folder + "/" + file_);
  return *std::move(model);
}

std::string ModuleCache::Announcement() const {
  char seconds[32];
  std::snprintf(
      seconds, sizeof(seconds), "%.0f",
      std::max(1.0, static_cast<double>(model_bytes_) / kBytesPerSecond));
  return name_ + ": compiling once, about " + seconds +
         " s; the module is kept in " + options_.folder + ", about " +
         SizeText(kCopies * model_bytes_) + " (--model-cache=off keeps none)";
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
  const std::string path = options_.folder + "/" + file_;
  // Packed constants of an older module of this name do not belong to the new
  // one.
  fs::remove_all(path + std::string(kPackedEnd), error);
  EMBER_RETURN_IF_ERROR(vm::WriteModule(definition, path));
  // The folder is where the JIT stores packed constants. If it cannot be made,
  // constants are packed in memory, which is no error.
  static_cast<void>(PrivateFolder::Open(path + std::string(kPackedEnd)));
  return OkStatus();
}

StatusOr<LoadedModel> ModuleCache::Keep(vm::ModuleDefinition definition) const {
  Status status = keeps() ? Write(definition) : OkStatus();
  if (keeps() && status.ok()) {
    definition = {};  // frees the definition's memory before the file is mapped
    Evict();
    return Map();
  }
  if (!status.ok() && !options_.is_quiet) {
    std::fprintf(stderr, "%s: note: the module is not kept: %s\n",
                 name_.c_str(), std::string(status.message()).c_str());
  }
  LoadedModel model;
  EMBER_ASSIGN_OR_RETURN(model.module,
                         vm::Module::FromDefinition(std::move(definition)));
  model.compiled_here = true;
  return model;
}

void ModuleCache::Remove(const std::string& name) const {
  std::error_code error;
  const std::string path = options_.folder + "/" + name;
  fs::remove(path, error);
  fs::remove_all(path + std::string(kPackedEnd), error);
}

void ModuleCache::Evict() const {
  StatusOr<PrivateFolder> folder = PrivateFolder::Open(options_.folder);
  if (!folder.ok()) return;
  std::vector<PrivateFolder::File> files = folder->List();
  for (PrivateFolder::File& file : files) {
    const std::string path = options_.folder + "/" + file.name;
    file.used_ns = UsedAt(path);
    // The new module's constants have not been packed yet, so their future size
    // is estimated.
    file.bytes += file.name == file_ ? (kCopies - 1) * file.bytes
                                     : BytesIn(path + std::string(kPackedEnd));
  }
  std::ranges::sort(files, std::greater(), &PrivateFolder::File::used_ns);
  int64_t bytes = 0;
  for (const PrivateFolder::File& file : files) {
    bytes += file.bytes;
    if (bytes > options_.max_bytes && file.name != file_) Remove(file.name);
  }
}

}  // namespace ember::tools
