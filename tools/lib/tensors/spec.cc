#include "tools/lib/tensors/spec.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/file.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/tensors/elements.h"
#include "tools/lib/tensors/npy.h"
#include "tools/lib/tensors/onnx_data.h"

namespace ember::tools {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> ParseExtent(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return std::nullopt;
  return value;
}

StatusOr<vm::Tensor> ReadRaw(const std::string& path, const TensorType& type) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  EMBER_ASSIGN_OR_RETURN(const int64_t expected,
                         vm::TensorByteSize(type.type, type.dims));
  if (static_cast<int64_t>(file.bytes().size()) != expected) {
    return InvalidArgumentError(
        path + ": expected " + std::to_string(expected) + " bytes for " +
        vm::TensorTypeText(type.type, type.dims) + ", found " +
        std::to_string(file.bytes().size()));
  }
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         vm::Tensor::Allocate(type.type, type.dims));
  if (expected > 0)
    std::memcpy(tensor.data, file.bytes().data(), file.bytes().size());
  return tensor;
}

// Splits the text at commas. A backslash makes the next character a literal
// one.
std::vector<std::string> SplitStrings(std::string_view text) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      parts.emplace_back();
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      parts.back() += text[i];
    }
  }
  return parts;
}

StatusOr<vm::Tensor> ReadStrings(std::string_view text,
                                 const TensorType& type) {
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         vm::TensorByteSize(DType::kI64, type.dims));
  const auto count = static_cast<size_t>(bytes / DTypeByteSize(DType::kI64));
  std::vector<std::string> strings = SplitStrings(text);
  // A single string is used for every element. An empty text counts as a single
  // empty string.
  if (strings.size() == 1) {
    constexpr size_t kMaxRepeated = size_t{1} << 24;
    if (count > kMaxRepeated)
      return ResourceExhaustedError("expected at most 2^24 strings");
    const std::string only = strings[0];
    strings.assign(count, only);
  }
  return vm::Tensor::OfStrings(type.dims, std::move(strings));
}

StatusOr<vm::Tensor> ReadValues(std::string_view text, const TensorType& type) {
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         vm::Tensor::Allocate(type.type, type.dims));
  const std::vector<std::string_view> values =
      text.empty() ? std::vector<std::string_view>() : Split(text, ',');
  const int64_t found = static_cast<int64_t>(values.size());
  const int64_t count = tensor.element_count();
  if (found != count && found != 1) {
    return CommandLineError("expected " + std::to_string(count) + " values" +
                            (count == 1 ? "" : ", or one for all") +
                            ", found " + std::to_string(found));
  }
  for (int64_t i = 0; i < count; ++i) {
    EMBER_RETURN_IF_ERROR(AsCommandLineError(
        ParseElement(values[found == 1 ? 0 : i], tensor, i)));
  }
  return tensor;
}

// Returns a tensor of strings that are random numbers as text.
StatusOr<vm::Tensor> RandomStrings(const TensorType& type,
                                   RandomTensors& random) {
  EMBER_ASSIGN_OR_RETURN(const vm::Tensor numbers,
                         random.Next(DType::kI64, type.dims));
  std::vector<std::string> strings;
  for (int64_t i = 0; i < numbers.element_count(); ++i)
    strings.push_back(ElementText(numbers, i));
  return vm::Tensor::OfStrings(type.dims, std::move(strings));
}

// Name in error messages of a tensor's file that is "-" (stdin), whichever flag
// gives it. Only one file may be stdin.
constexpr std::string_view kStdinOfTensors = "--input";

// Names of element types in other programs, with Ember's names, for suggestions
// in error messages.
struct TypeAlias {
  std::string_view alias, name;
};
constexpr TypeAlias kTypeAliases[] = {
    {"float", "f32"},    {"float32", "f32"},   {"single", "f32"},
    {"float64", "f64"},  {"double", "f64"},    {"float16", "f16"},
    {"half", "f16"},     {"fp16", "f16"},      {"fp32", "f32"},
    {"fp64", "f64"},     {"bfloat16", "bf16"}, {"int8", "i8"},
    {"int16", "i16"},    {"int32", "i32"},     {"int", "i32"},
    {"int64", "i64"},    {"long", "i64"},      {"uint8", "u8"},
    {"uint16", "u16"},   {"uint32", "u32"},    {"uint64", "u64"},
    {"boolean", "bool"}, {"str", "string"},    {"text", "string"},
};

// Returns a suggestion such as "; did you mean 1x3xf32?" if the text ends with
// another program's name of a type, as "1x3xfloat32" does. Returns an empty
// text otherwise.
std::string SuggestType(std::string_view text) {
  for (const TypeAlias& row : kTypeAliases) {
    if (!text.ends_with(row.alias)) continue;
    const std::string meant =
        std::string(text.substr(0, text.size() - row.alias.size())) +
        std::string(row.name);
    if (ParseTensorType(meant)) return "; did you mean " + meant + "?";
  }
  return "";
}

StatusOr<vm::Tensor> ReadUnnamed(std::string_view spec, RandomTensors& random) {
  if (spec.starts_with('@')) return ReadTensorFile(std::string(spec.substr(1)));
  const size_t equals = spec.find('=');
  const std::optional<TensorType> type =
      ParseTensorType(spec.substr(0, equals));
  if (!type) {
    return CommandLineError(
        "expected TYPE=VALUES, TYPE=@file, @x.npy or @x.pb with a TYPE like "
        "2x3xf32" +
        SuggestType(spec.substr(0, equals)));
  }
  if (equals == std::string_view::npos) return RandomTensor(*type, random);
  const std::string_view value = spec.substr(equals + 1);
  if (type->strings) return ReadStrings(value, *type);
  if (value.starts_with('@')) {
    EMBER_ASSIGN_OR_RETURN(
        const std::string path,
        InputPath(kStdinOfTensors, std::string(value.substr(1))));
    return ReadRaw(path, *type);
  }
  return ReadValues(value, *type);
}

// Reads a tensor from stdin. The format is recognised by the contents.
StatusOr<vm::Tensor> ReadStdinTensor() {
  EMBER_ASSIGN_OR_RETURN(const std::string path, StdinFile(kStdinOfTensors));
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  constexpr std::string_view kNpyMagic = "\x93NUMPY";
  const std::span<const uint8_t> begin =
      file.bytes().first(std::min(file.bytes().size(), kNpyMagic.size()));
  const bool is_npy = std::ranges::equal(
      begin, kNpyMagic,
      [](uint8_t byte, char c) { return byte == static_cast<uint8_t>(c); });
  const StatusOr<vm::Tensor> tensor =
      is_npy ? ReadNpy(path) : ReadTensorProto(path);
  if (tensor.ok()) return tensor;
  return InvalidArgumentError(
      "expected a NumPy file or an ONNX tensor on stdin, found something else "
      "(raw data needs its type: 2x3xf32=@-)");
}

}  // namespace

StatusOr<vm::Tensor> RandomTensor(const TensorType& type,
                                  RandomTensors& random) {
  return type.strings ? RandomStrings(type, random)
                      : random.Next(type.type, type.dims);
}

std::optional<TensorType> ParseTensorType(std::string_view text) {
  std::vector<std::string_view> parts = Split(text, 'x');
  const bool strings = parts.back() == vm::kStringType;
  const std::optional<DType> type =
      strings ? DType::kI64 : DTypeFromName(parts.back());
  if (!type) return std::nullopt;
  parts.pop_back();
  TensorType result{*type, {}, strings};
  for (std::string_view part : parts) {
    const std::optional<int64_t> extent = ParseExtent(part);
    if (!extent) return std::nullopt;
    result.dims.push_back(*extent);
  }
  return result;
}

StatusOr<vm::Tensor> ReadTensorFile(const std::string& user_path) {
  if (user_path == kStandardStream) return ReadStdinTensor();
  const std::string path = UserPath(user_path);
  if (path.ends_with(".npy")) return ReadNpy(path);
  if (path.ends_with(".pb")) return ReadTensorProto(path);
  return CommandLineError(
      "expected a file that ends in .npy or .pb, or in vm-run a picture "
      "or .wav, found '" +
      user_path + "' (raw data needs its type: 2x3xf32=@" + user_path + ")");
}

Status CheckTensorFile(const std::string& path) {
  const std::string_view name =
      std::string_view(path).substr(path.rfind('/') + 1);
  const size_t point = name.rfind('.');
  const std::string_view ending =
      point == std::string_view::npos ? "" : name.substr(point);
  for (const std::string_view known : {"", ".npy", ".pb", ".bin", ".raw"}) {
    if (ending == known) return OkStatus();
  }
  return CommandLineError(
      "expected a file that ends in .npy, .pb, or for raw elements in .bin or "
      ".raw, found '" +
      path + "'");
}

Status WriteTensorFile(const std::string& user_path, std::string_view name,
                       const vm::Tensor& tensor) {
  EMBER_RETURN_IF_ERROR(CheckTensorFile(user_path));
  if (user_path == kStandardStream) {
    EMBER_ASSIGN_OR_RETURN(const std::string contents, SerializeNpy(tensor));
    return WriteTakenStdout(contents);
  }
  const std::string path = UserPath(user_path);
  if (tensor.strings != nullptr) {
    if (path.ends_with(".pb")) {
      return WriteFileAtomically(path, SerializeTensorProto(name, tensor));
    }
    return InvalidArgumentError(
        "expected a file that ends in .pb for strings, found '" + user_path +
        "'");
  }
  if (path.ends_with(".npy")) return WriteNpy(path, tensor);
  const auto* data = static_cast<const uint8_t*>(tensor.data);
  const std::span<const uint8_t> bytes(data,
                                       static_cast<size_t>(tensor.byte_size));
  if (path.ends_with(".pb")) {
    return WriteFileAtomically(path, SerializeTensorProto(name, tensor));
  }
  return WriteFileAtomically(
      path, {reinterpret_cast<const char*>(data), bytes.size()});
}

StatusOr<NamedTensor> ReadTensorSpec(std::string_view spec,
                                     RandomTensors& random) {
  NamedTensor result;
  std::string_view rest = spec;
  const size_t equals = spec.find('=');
  if (!spec.starts_with('@') && equals != std::string_view::npos &&
      !ParseTensorType(spec.substr(0, equals))) {
    result.name = std::string(spec.substr(0, equals));
    rest = spec.substr(equals + 1);
  }
  StatusOr<vm::Tensor> tensor = ReadUnnamed(rest, random);
  // If the text before the first '=' looks like a misspelled type, NAME= is
  // missing, and the error suggests a type.
  if (!tensor.ok() && result.name) {
    if (const std::string meant = SuggestType(*result.name); !meant.empty()) {
      tensor = CommandLineError("expected a TYPE like 2x3xf32" + meant);
    }
  }
  if (!tensor.ok()) {
    // Error messages show only the beginning of a long list of values.
    const std::string shown(
        spec.size() > 200 ? std::string(spec.substr(0, 200)) + "…" : spec);
    return tensor.status().WithContext("'" + shown + "'");
  }
  result.tensor = *std::move(tensor);
  return result;
}

StatusOr<NamedPath> ParsePathSpec(std::string_view spec) {
  NamedPath result;
  const size_t at = spec.starts_with('@') ? 0 : spec.find("=@");
  const size_t begin = at == 0 ? 1 : at + 2;
  if (at == std::string_view::npos || begin >= spec.size()) {
    return CommandLineError("'" + std::string(spec) +
                            "': expected [NAME=]@FILE");
  }
  if (at != 0) result.name = std::string(spec.substr(0, at));
  result.path = std::string(spec.substr(begin));
  return result;
}

StatusOr<NamedShape> ParseShapeSpec(std::string_view spec) {
  const size_t equals = spec.rfind('=');
  NamedShape result;
  const auto malformed = [&spec] {
    return InvalidArgumentError("'" + std::string(spec) +
                                "': expected NAME=1x3x224x224 or "
                                "NAME=1x3xi64");
  };
  if (equals == std::string_view::npos || equals == 0) return malformed();
  result.name = std::string(spec.substr(0, equals));
  const std::string_view text = spec.substr(equals + 1);
  if (text.empty()) return result;
  std::vector<std::string_view> parts = Split(text, 'x');
  result.type = DTypeFromName(parts.back());
  if (result.type) parts.pop_back();
  for (std::string_view part : parts) {
    const std::optional<int64_t> extent = ParseExtent(part);
    if (!extent && part != "?") return malformed();
    result.dims.push_back(extent);
  }
  return result;
}

StatusOr<std::vector<NamedShape>> ParseShapeFlags(
    const std::vector<std::string>& specs) {
  std::vector<NamedShape> shapes;
  for (const std::string& spec : specs) {
    StatusOr<NamedShape> shape = ParseShapeSpec(spec);
    if (!shape.ok())
      return AsCommandLineError(shape.status().WithContext("--shape"));
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

}  // namespace ember::tools
