// Implements compile: checks the options, and imports and compiles the model
// with the code of the tools.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "base/metadata_rules.h"
#include "base/one_line.h"
#include "tools/compiler_api/compilation.h"
#include "tools/compiler_api/step_guard.h"
#include "tools/lib/models/load_model.h"
#include "vm/api/callbacks.h"
#include "vm/isa/model_metadata.h"

namespace ember::compiler_api {
namespace {

constexpr size_t kAlignment = 64;

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

// Returns a copy of the caller's options. Fields that the caller's version of
// the struct does not have are 0.
StatusOr<EmberCompileOptions> CopyOptions(const EmberCompileOptions& given) {
  using LastOfVersion1 = decltype(EmberCompileOptions::cancel);
  constexpr size_t kLeast =
      offsetof(EmberCompileOptions, cancel) + sizeof(LastOfVersion1);
  if (given.struct_size < kLeast) {
    return InvalidArgumentError("options: expected a struct_size of " +
                                std::to_string(kLeast) + ", found " +
                                std::to_string(given.struct_size));
  }
  EmberCompileOptions options = {};
  std::memcpy(&options, &given, std::min(given.struct_size, sizeof(options)));
  return options;
}

// Returns an array of the options as a span. `what` is the array's name, for
// errors.
template <typename T>
StatusOr<std::span<const T>> Items(const char* what, const T* items,
                                   size_t count) {
  if (count > 0 && items == nullptr) {
    return InvalidArgumentError(std::string(what) + ": expected " +
                                std::to_string(count) + " items, found NULL");
  }
  return std::span<const T>(items, count);
}

StatusOr<tools::ModelSource> SourceOf(const EmberCompileOptions& options) {
  if ((options.path != nullptr) == (options.data != nullptr)) {
    return InvalidArgumentError(
        std::string("options: expected one of path and data, found ") +
        (options.path == nullptr ? "neither" : "both"));
  }
  tools::ModelSource source;
  source.format = TextOf(options.format);
  if (options.path != nullptr) {
    source.name = options.path;
    source.path = options.path;
    return source;
  }
  source.name = options.name == nullptr ? "model" : options.name;
  if (source.name.empty() || source.name.find('/') != std::string::npos) {
    return InvalidArgumentError(
        "options: expected a name without a slash, found '" +
        OnOneLine(source.name) + "'");
  }
  source.folder = TextOf(options.folder);
  const std::span<const uint8_t> bytes(
      static_cast<const uint8_t*>(options.data), options.data_size);
  if (reinterpret_cast<uintptr_t>(options.data) % kAlignment == 0) {
    // The caller owns the bytes, so the deleter of `owner` does nothing.
    // `owner` may not be null, because frontends copy the bytes of constants
    // that have no owner.
    static const int kCaller = 0;
    source.contents = graph::ConstantData{
        .owner = {&kCaller, [](const void*) {}}, .bytes = bytes};
  } else {
    source.contents = graph::ConstantData::Copy(bytes);
  }
  return source;
}

StatusOr<tools::NamedTensor> ConstantOf(const EmberNamedTensor& given) {
  const EmberTensor& from = given.tensor;
  const std::string what = "constant '" + OnOneLine(TextOf(given.name)) + "'";
  if (given.name == nullptr || from.type < 0 || from.type >= kDTypeCount ||
      from.rank < 0 || (from.rank > 0 && from.dims == nullptr) ||
      (from.byte_size > 0 && from.data == nullptr)) {
    return InvalidArgumentError(
        what + ": expected a name, a type of EmberType, dims and data");
  }
  const vm::Tensor borrowed =
      vm::Tensor::Borrow(static_cast<DType>(from.type),
                         {from.dims, from.dims + from.rank}, from.data);
  if (borrowed.byte_size < 0 ||
      static_cast<uint64_t>(borrowed.byte_size) != from.byte_size) {
    return InvalidArgumentError(what + ": expected " +
                                std::to_string(borrowed.byte_size) +
                                " bytes for " + borrowed.TypeText() +
                                ", found " + std::to_string(from.byte_size));
  }
  EMBER_ASSIGN_OR_RETURN(vm::Tensor copy,
                         vm::Tensor::Allocate(borrowed.type, borrowed.dims));
  if (from.byte_size > 0) std::memcpy(copy.data, from.data, from.byte_size);
  return tools::NamedTensor{.name = given.name, .tensor = std::move(copy)};
}

// Parses "NAME=EXTENT" and adds it to `symbols`, the open dims that get a fixed
// extent.
Status AddSymbol(const std::string& spec,
                 std::map<std::string, int64_t>& symbols) {
  const size_t equals = spec.rfind('=');
  int64_t extent = -1;
  const char* const end = spec.data() + spec.size();
  if (equals != std::string::npos && equals > 0) {
    const char* const begin = spec.data() + equals + 1;
    const auto [rest, error] = std::from_chars(begin, end, extent);
    if (error != std::errc() || rest != end) extent = -1;
  }
  if (extent < 0) {
    return InvalidArgumentError("symbols: expected NAME=EXTENT, found '" +
                                OnOneLine(spec) + "'");
  }
  symbols[spec.substr(0, equals)] = extent;
  return OkStatus();
}

StatusOr<tools::LoadOptions> LoadOptionsOf(const EmberCompileOptions& options) {
  tools::LoadOptions load;
  EMBER_ASSIGN_OR_RETURN(const auto shapes,
                         Items("shapes", options.shapes, options.shape_count));
  for (const char* spec : shapes) {
    StatusOr<tools::NamedShape> shape = tools::ParseShapeSpec(TextOf(spec));
    if (!shape.ok()) return shape.status().WithContext("shapes");
    load.shapes.push_back(*std::move(shape));
  }
  EMBER_ASSIGN_OR_RETURN(const auto symbols, Items("symbols", options.symbols,
                                                   options.symbol_count));
  for (const char* spec : symbols)
    EMBER_RETURN_IF_ERROR(AddSymbol(TextOf(spec), load.compile.symbols));
  EMBER_ASSIGN_OR_RETURN(
      const auto constants,
      Items("constants", options.constants, options.constant_count));
  for (const EmberNamedTensor& given : constants) {
    EMBER_ASSIGN_OR_RETURN(tools::NamedTensor constant, ConstantOf(given));
    load.values.push_back(std::move(constant));
  }
  EMBER_ASSIGN_OR_RETURN(const auto passes,
                         Items("disabled_passes", options.disabled_passes,
                               options.disabled_pass_count));
  for (const char* pass : passes)
    load.compile.disabled_passes.insert(TextOf(pass));
  load.entry = TextOf(options.entry);
  load.separate_dims = options.separate_dims != 0;
  return load;
}

// Compiles the model into `compilation`. Sets `guard` just before the first
// step that can be cancelled; errors before that moment leave it empty.
Status CompileInto(const EmberCompileOptions& options,
                   std::optional<StepGuard>& guard,
                   EmberCompilation& compilation) {
  EMBER_ASSIGN_OR_RETURN(const tools::ModelSource source, SourceOf(options));
  compilation.file = source.name;
  EMBER_ASSIGN_OR_RETURN(tools::LoadOptions load, LoadOptionsOf(options));
  EMBER_ASSIGN_OR_RETURN(
      const auto metadata,
      Items("metadata", options.metadata, options.metadata_count));
  // MetadataRules refuses keys that do not ascend. The caller may pass entries
  // in any order, so each entry is checked by rules of its own.
  for (const EmberMetadata& entry : metadata) {
    EMBER_RETURN_IF_ERROR(
        MetadataRules().Check(TextOf(entry.key), TextOf(entry.value)));
  }
  if (std::isnan(options.max_seconds))
    return InvalidArgumentError("max_seconds: expected a number, found NaN");
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Progress> listener,
                         api::ProgressOf(options.progress));
  guard.emplace(StepLimits{.cancel = options.cancel == nullptr
                                         ? nullptr
                                         : &options.cancel->is_cancelled,
                           .memory_limit = options.memory_limit,
                           .max_seconds = options.max_seconds,
                           .listener = listener.get()});
  EMBER_RETURN_IF_ERROR(guard->Check());
  load.compile.progress = &*guard;
  load.note = [&](std::string_view line) {
    compilation.diagnostics.push_back({.severity = EMBER_NOTE,
                                       .message = OnOneLine(line),
                                       .stage = "import"});
  };
  StatusOr<vm::ModuleDefinition> module = tools::CompileModel(source, load);
  if (!module.ok()) return guard->Reason(module.status());
  EMBER_RETURN_IF_ERROR(guard->Check());
  for (const EmberMetadata& entry : metadata)
    vm::SetMetadata(entry.key, TextOf(entry.value), module->metadata);
  compilation.module = *std::move(module);
  return OkStatus();
}

// Returns the message without "FILE: " at its beginning, because a diagnostic
// names the file in a field of its own.
std::string WithoutFile(std::string_view message, const std::string& file) {
  if (message.starts_with(file + ": ")) message.remove_prefix(file.size() + 2);
  return OnOneLine(message);
}

// Returns the model's node that an error message names, as all frontends write
// it: "node 'NAME (TYPE)'". Returns "" if it names none.
std::string NodeOf(std::string_view message) {
  constexpr std::string_view kNode = "node '";
  const size_t found = message.find(kNode);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = message.substr(found + kNode.size());
  for (size_t end = rest.find('\''); end != std::string_view::npos;
       end = rest.find('\'', end + 1)) {
    // A node's name may contain quotation marks. The name ends at the first
    // mark that is followed by punctuation or by the end of the message.
    if (end + 1 == rest.size() ||
        std::string_view(":),; ").find(rest[end + 1]) != std::string_view::npos)
      return std::string(rest.substr(0, end));
  }
  return "";
}

void AddError(const Status& status, const std::optional<StepGuard>& guard,
              EmberCompilation& compilation) {
  compilation.diagnostics.push_back(
      {.severity = EMBER_ERROR,
       .code = status.code(),
       .message = WithoutFile(status.message(), compilation.file),
       .stage = guard ? guard->stage() : "",
       .step = guard ? OnOneLine(guard->item()) : "",
       .node = NodeOf(OnOneLine(status.message()))});
}

}  // namespace

EmberStatus Compile(const EmberCompileOptions* options,
                    EmberCompilation** compilation) {
  std::unique_ptr<EmberCompilation> made;
  std::optional<StepGuard> guard;
  EmberStatus code = Guarded([&]() -> Status {
    if (compilation != nullptr) *compilation = nullptr;
    if (options == nullptr || compilation == nullptr)
      return InvalidArgumentError("compile: expected pointers, found NULL");
    made = std::make_unique<EmberCompilation>();
    EMBER_ASSIGN_OR_RETURN(const EmberCompileOptions copy,
                           CopyOptions(*options));
    return CompileInto(copy, guard, *made);
  });
  if (made == nullptr) return code;
  if (code != EMBER_OK) {
    made->module.reset();
    try {
      AddError(Status(static_cast<StatusCode>(code), ErrorMessage()), guard,
               *made);
    } catch (const std::bad_alloc&) {
      // There is no memory for a diagnostic. The caller still gets the error's
      // text from error_message().
      made->diagnostics.clear();
    }
  }
  *compilation = made.release();
  return code;
}

}  // namespace ember::compiler_api
