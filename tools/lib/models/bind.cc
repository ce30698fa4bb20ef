#include "tools/lib/models/bind.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/frontend.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/tensors/onnx_data.h"
#include "vm/runtime/default_limits.h"

namespace ember::tools {
namespace {

std::span<const vm::TensorSignature> Signatures(const vm::Module& module,
                                                std::string_view what) {
  return what == "input" ? module.inputs() : module.results();
}

// The values that are known for the module's symbols (open dims), by the
// symbol's index.
using Symbols = std::map<int64_t, int64_t>;

void BindSymbols(const vm::TensorSignature& signature,
                 std::span<const std::optional<int64_t>> dims,
                 Symbols& symbols) {
  for (size_t i = 0; i < signature.dims.size() && i < dims.size(); ++i) {
    if (signature.dims[i] < 0 && dims[i])
      symbols.emplace(-1 - signature.dims[i], *dims[i]);
  }
}

// Returns the dims of an input that the command line does not give. An open dim
// is that of --shape or of another dim with the same symbol, else 1.
std::vector<int64_t> ChooseDims(const vm::TensorSignature& signature,
                                const Symbols& symbols) {
  std::vector<int64_t> dims;
  for (const int64_t dim : signature.dims) {
    const auto symbol = symbols.find(-1 - dim);
    dims.push_back(dim >= 0                  ? dim
                   : symbol == symbols.end() ? 1
                                             : symbol->second);
  }
  return dims;
}

// Returns an input as a value of --shape, with "?" for each open dim whose size
// is not known: "image=?x1x28x28". Returns "" if all dims are known.
std::string GuessedShape(const vm::TensorSignature& signature,
                         const Symbols& symbols) {
  std::string text;
  bool is_guessed = false;
  for (const int64_t dim : signature.dims) {
    const auto symbol = symbols.find(-1 - dim);
    const bool is_open = dim < 0 && symbol == symbols.end();
    is_guessed |= is_open;
    text += text.empty() ? "" : "x";
    text += is_open ? "?" : std::to_string(dim < 0 ? symbol->second : dim);
  }
  return is_guessed ? signature.name + "=" + text : "";
}

// Subtracts from `left`, the number of bytes that may still be allocated, the
// size of an input that will be made. Error: `left` is too small.
Status TakeMemory(const vm::TensorSignature& signature,
                  const std::vector<int64_t>& dims, int64_t& left) {
  constexpr int64_t kBytesOfString = 64;
  std::optional<int64_t> bytes = signature.logical_type == vm::kStringType
                                     ? kBytesOfString
                                     : DTypeByteSize(signature.type);
  for (const int64_t dim : dims) {
    if (bytes) bytes = CheckedMultiply(*bytes, dim);
  }
  if (bytes && *bytes <= left) {
    left -= *bytes;
    return OkStatus();
  }
  return ResourceExhaustedError(
      "input '" + signature.name + "': expected at most " +
      std::to_string(left) +
      " more bytes of inputs that are not given "
      "(--max-memory), found " +
      (bytes ? std::to_string(*bytes) : "more than 2^63"));
}

StatusOr<vm::Tensor> Zeros(DType type, const std::vector<int64_t>& dims) {
  EMBER_ASSIGN_OR_RETURN(vm::Tensor zeros, vm::Tensor::Allocate(type, dims));
  std::memset(zeros.data, 0, static_cast<size_t>(zeros.byte_size));
  return zeros;
}

std::string ShapeText(const NamedShape& shape) {
  std::string text;
  for (const std::optional<int64_t>& dim : shape.dims) {
    text += (text.empty() ? "" : "x") + (dim ? std::to_string(*dim) : "?");
  }
  return text.empty() ? "a scalar" : text;
}

Status BindShapes(const vm::Module& module,
                  const std::vector<NamedShape>& shapes, Symbols& symbols) {
  std::vector<std::optional<std::string>> names;
  for (const NamedShape& shape : shapes) names.emplace_back(shape.name);
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> numbers,
                         BindNames(module, "input", names));
  for (size_t i = 0; i < shapes.size(); ++i) {
    const vm::TensorSignature& signature = module.inputs()[numbers[i]];
    // A sequence is several tensors of the module. --shape gives only the rank
    // of its elements, which the import has already used, so nothing is checked
    // or bound here.
    if (PartCount(module.inputs(), numbers[i]) > 1) continue;
    bool fits = signature.dims.size() == shapes[i].dims.size();
    for (size_t d = 0; fits && d < signature.dims.size(); ++d) {
      fits = signature.dims[d] < 0 || !shapes[i].dims[d] ||
             *shapes[i].dims[d] == signature.dims[d];
    }
    if (!fits) {
      return CommandLineError(
          "--shape of input '" + signature.name + "': expected " +
          vm::SignatureText(module.entry(), signature) + ", found " +
          ShapeText(shapes[i]) +
          (signature.dims.empty() ? "" : "; only dims with names are open"));
    }
    BindSymbols(signature, shapes[i].dims, symbols);
  }
  return OkStatus();
}

// If the specification is "[NAME=]@FILE" without a type, returns its file and
// its name; otherwise nothing.
std::optional<NamedPath> FilePath(const std::string& spec) {
  const StatusOr<NamedPath> path = ParsePathSpec(spec);
  if (!path.ok()) return std::nullopt;
  // If the specification gives a type, as "x=2x3xf32=@x.pb" does, the file has
  // raw elements and is not a TensorProto.
  if (path->name && (path->name->find('=') != std::string::npos ||
                     ParseTensorType(*path->name))) {
    return std::nullopt;
  }
  return *path;
}

// Returns the texts as a list that shows at most kMaxShown of them: "a, b and 3
// more".
std::string ListText(const std::vector<std::string>& parts) {
  constexpr size_t kMaxShown = 8;
  std::string text;
  for (size_t i = 0; i < parts.size() && i < kMaxShown; ++i)
    text += (text.empty() ? "" : ", ") + parts[i];
  if (parts.size() > kMaxShown)
    text += " and " + std::to_string(parts.size() - kMaxShown) + " more";
  return text;
}

bool IsState(const vm::TensorSignature& signature) {
  return signature.logical_type == frontends::kStateType;
}

// Returns an error if some of the inputs are given and others are not. Inputs
// that are state need not be given.
Status CheckAllGiven(const vm::Module& module,
                     const std::vector<std::optional<vm::Tensor>>& given) {
  std::vector<std::string> missing;
  const vm::TensorSignature* first = nullptr;
  bool has_given = false;
  for (size_t i = 0; i < given.size(); ++i) {
    const vm::TensorSignature& signature = module.inputs()[i];
    has_given |= given[i].has_value();
    if (given[i] || IsState(signature)) continue;
    if (first == nullptr) first = &signature;
    missing.push_back(signature.name + ": " +
                      vm::SignatureText(module.entry(), signature));
  }
  if (!has_given || missing.empty()) return OkStatus();
  return CommandLineError(
      std::to_string(missing.size()) + " of " + std::to_string(given.size()) +
      (missing.size() == 1 ? " inputs is" : " inputs are") +
      " not given: " + ListText(missing) + "; expected --input=" + first->name +
      "=" + vm::SignatureText(module.entry(), *first) +
      "=VALUE or --input=" + first->name + "=@FILE.npy" +
      (missing.size() > 1 ? " and so on" : "") + ", or --random-inputs");
}

}  // namespace

void MissingInputs::AddFlag(Flags& flags) {
  flags.Add("random-inputs", &may_be_random,
            "Makes inputs that are not given random although others are "
            "given.");
}

void MissingInputs::Report(std::string_view tool, int64_t seed) const {
  if (made.empty()) return;
  std::fprintf(stderr, "%s: random inputs (seed %lld): %s\n",
               std::string(tool).c_str(), static_cast<long long>(seed),
               OnOneLine(ListText(made)).c_str());
}

Status MissingInputs::ExplainError(const Status& error) const {
  // Only these two codes can mean that the dims do not suit the model. Other
  // errors, such as a limit or a cancellation, stay as they are.
  const bool may_be_dims = error.code() == StatusCode::kInvalidArgument ||
                           error.code() == StatusCode::kFailedPrecondition;
  if (!may_be_dims || guessed.empty()) return error;
  std::string flags;
  for (const std::string& shape : guessed)
    flags += (flags.empty() ? "--shape=" : " --shape=") + shape;
  return Status(error.code(), std::string(error.message()) +
                                  " (open dims of random inputs are 1; " +
                                  flags +
                                  ", with numbers for ?, gives others)");
}

std::string DescribeInputs(const vm::Module& module,
                           std::span<const vm::Tensor> inputs) {
  std::string text;
  for (size_t i = 0; i < inputs.size(); ++i) {
    text += (i == 0 ? "" : ", ") + module.inputs()[i].name + ": " +
            inputs[i].TypeText();
  }
  return text;
}

std::string DescribeSignatures(
    const vm::Program& program,
    std::span<const vm::TensorSignature> signatures) {
  std::string text;
  for (const vm::TensorSignature& signature : signatures) {
    if (!text.empty()) text += ", ";
    text += signature.name + ": " + vm::SignatureText(program, signature);
  }
  return text;
}

StatusOr<std::vector<size_t>> BindNames(
    const vm::Module& module, std::string_view what,
    const std::vector<std::optional<std::string>>& names) {
  const std::span<const vm::TensorSignature> signatures =
      Signatures(module, what);
  const std::string there =
      "the module has " + DescribeSignatures(module.entry(), signatures);
  std::vector<bool> taken(signatures.size());
  std::vector<size_t> numbers;
  for (const std::optional<std::string>& name : names) {
    size_t number = 0;
    while (number < signatures.size() &&
           (name ? signatures[number].name != *name : taken[number])) {
      ++number;
    }
    if (number == signatures.size()) {
      return CommandLineError(
          (name ? "no " + std::string(what) + " '" + *name + "'; "
                : "more than " + std::to_string(signatures.size()) + " " +
                      std::string(what) + "s; ") +
          there);
    }
    if (taken[number]) {
      return CommandLineError(std::string(what) + " '" + *name +
                              "' is given twice; " + there);
    }
    taken[number] = true;
    numbers.push_back(number);
  }
  return numbers;
}

Status AddInitialState(const vm::Module& module,
                       std::vector<vm::Tensor>& inputs) {
  for (size_t i = inputs.size(); i < module.inputs().size(); ++i) {
    const vm::TensorSignature& signature = module.inputs()[i];
    if (!IsState(signature)) return OkStatus();
    EMBER_ASSIGN_OR_RETURN(vm::Tensor zeros,
                           Zeros(signature.type, ChooseDims(signature, {})));
    inputs.push_back(std::move(zeros));
  }
  return OkStatus();
}

StatusOr<std::vector<NumberedTensor>> ReadTensors(
    const vm::Module& module, std::string_view what,
    const std::vector<std::string>& specs, RandomTensors& random,
    const InputReader& reader) {
  const std::span<const vm::TensorSignature> signatures =
      Signatures(module, what);
  std::vector<vm::Tensor> tensors;
  std::vector<std::optional<std::string>> names;
  for (const std::string& spec : specs) {
    const std::optional<NamedPath> path = FilePath(spec);
    if (path && reader) {
      names.push_back(path->name);
      EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> numbers,
                             BindNames(module, what, names));
      if (std::optional<StatusOr<vm::Tensor>> tensor =
              reader(path->path, numbers.back())) {
        if (!tensor->ok()) return std::move(*tensor).status();
        tensors.push_back(**std::move(tensor));
        continue;
      }
      names.pop_back();
    }
    // Only a .pb file may hold several tensors (a sequence); every other
    // specification is one tensor.
    if (!path || !path->path.ends_with(".pb")) {
      EMBER_ASSIGN_OR_RETURN(NamedTensor tensor, ReadTensorSpec(spec, random));
      names.push_back(tensor.name);
      tensors.push_back(std::move(tensor.tensor));
      continue;
    }
    names.push_back(path->name);
    EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> numbers,
                           BindNames(module, what, names));
    const size_t first = numbers.back();
    const auto parts = signatures.subspan(first, PartCount(signatures, first));
    EMBER_ASSIGN_OR_RETURN(std::vector<vm::Tensor> read,
                           ReadDataFile(UserPath(path->path), parts));
    names.pop_back();
    for (size_t i = 0; i < parts.size(); ++i) {
      names.emplace_back(parts[i].name);
      tensors.push_back(std::move(read[i]));
    }
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> numbers,
                         BindNames(module, what, names));
  std::vector<NumberedTensor> bound;
  for (size_t i = 0; i < tensors.size(); ++i)
    bound.push_back({numbers[i], std::move(tensors[i])});
  return bound;
}

StatusOr<std::vector<vm::Tensor>> BindInputs(
    const vm::Module& module, const std::vector<std::string>& specs,
    const std::vector<NamedShape>& shapes, RandomTensors& random,
    const LimitFlags& limits, MissingInputs* missing,
    const InputReader& reader) {
  vm::SessionOptions session;
  EMBER_RETURN_IF_ERROR(SetLimits(limits, session));
  int64_t left = session.memory_limit;
  if (left == 0) left = vm::DefaultMemoryLimit();
  if (left < 0) left = INT64_MAX;
  Symbols symbols;
  EMBER_RETURN_IF_ERROR(BindShapes(module, shapes, symbols));
  EMBER_ASSIGN_OR_RETURN(std::vector<NumberedTensor> given,
                         ReadTensors(module, "input", specs, random, reader));
  std::vector<std::optional<vm::Tensor>> bound(module.inputs().size());
  for (NumberedTensor& one : given) {
    const std::vector<std::optional<int64_t>> dims(one.tensor.dims.begin(),
                                                   one.tensor.dims.end());
    BindSymbols(module.inputs()[one.number], dims, symbols);
    bound[one.number] = std::move(one.tensor);
  }
  if (missing != nullptr && !missing->may_be_random)
    EMBER_RETURN_IF_ERROR(CheckAllGiven(module, bound));
  std::vector<vm::Tensor> inputs;
  for (size_t i = 0; i < bound.size(); ++i) {
    const vm::TensorSignature& signature = module.inputs()[i];
    if (!bound[i]) {
      std::vector<int64_t> dims = ChooseDims(signature, symbols);
      EMBER_RETURN_IF_ERROR(TakeMemory(signature, dims, left));
      if (IsState(signature)) {
        EMBER_ASSIGN_OR_RETURN(bound[i], Zeros(signature.type, dims));
      } else {
        EMBER_ASSIGN_OR_RETURN(
            bound[i], RandomTensor({signature.type, std::move(dims),
                                    signature.logical_type == vm::kStringType},
                                   random));
        if (missing != nullptr) {
          missing->made.push_back(signature.name + ": " + bound[i]->TypeText());
          const std::string guessed = GuessedShape(signature, symbols);
          if (!guessed.empty()) missing->guessed.push_back(guessed);
        }
      }
    }
    inputs.push_back(*std::move(bound[i]));
  }
  return inputs;
}

}  // namespace ember::tools
