#include "hal/vulkan/spirv_module.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <spirv/unified1/spirv.hpp11>

#include "base/concat.h"

namespace ember::hal::vulkan {
namespace {

constexpr size_t kHeaderWords = 5;

// Returns the string that begins at the first word and ends at a zero byte.
// Returns nullopt if there is no zero byte in the words.
std::optional<std::string_view> Text(std::span<const uint32_t> words) {
  const char* const begin = reinterpret_cast<const char*>(words.data());
  const void* const end = std::memchr(begin, 0, words.size() * 4);
  if (end == nullptr) return std::nullopt;
  return std::string_view(
      begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
}

// The declarations of a module that show which variables of an entry point are
// texel buffers. Keys of the maps are SPIR-V ids.
struct Declarations {
  std::map<uint32_t, uint32_t> formats;  // for each image type, its texel
                                         // format
  // for each pointer type, the type to which it points
  std::map<uint32_t, uint32_t> pointees;
  std::map<uint32_t, uint32_t> images;    // for each variable, its image type
  std::map<uint32_t, uint32_t> bindings;  // for each variable, its binding
                                          // number
  std::span<const uint32_t> interface;    // the variables that the entry point
                                          // uses

  void Note(spv::Op op, std::span<const uint32_t> operands) {
    constexpr auto kConstant =
        static_cast<uint32_t>(spv::StorageClass::UniformConstant);
    if (op == spv::Op::OpDecorate && operands.size() == 3 &&
        operands[1] == static_cast<uint32_t>(spv::Decoration::Binding)) {
      bindings[operands[0]] = operands[2];
    } else if (op == spv::Op::OpTypeImage && operands.size() >= 8 &&
               operands[2] == static_cast<uint32_t>(spv::Dim::Buffer)) {
      formats[operands[0]] = operands[7];
    } else if (op == spv::Op::OpTypePointer && operands.size() == 3 &&
               operands[1] == kConstant) {
      pointees[operands[0]] = operands[2];
    } else if (op == spv::Op::OpVariable && operands.size() >= 3 &&
               operands[2] == kConstant) {
      images[operands[1]] = operands[0];
    }
  }

  std::vector<SpirvModule::TexelBuffer> TexelBuffers() const {
    std::vector<SpirvModule::TexelBuffer> found;
    for (uint32_t variable : interface) {
      const auto type = images.find(variable);
      if (type == images.end()) continue;
      const auto image = pointees.find(type->second);
      const auto binding = bindings.find(variable);
      if (image == pointees.end() || binding == bindings.end()) continue;
      const auto format = formats.find(image->second);
      if (format != formats.end())
        found.push_back({binding->second, format->second});
    }
    return found;
  }
};

}  // namespace

bool SpirvModule::Declares(uint32_t capability) const {
  return std::find(capabilities.begin(), capabilities.end(), capability) !=
         capabilities.end();
}

StatusOr<SpirvModule> InspectSpirv(std::span<const uint32_t> words,
                                   std::string_view entry_point) {
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) {
    return InvalidArgumentError(
        "expected SPIR-V, which starts with 0x07230203, found something else");
  }
  SpirvModule module;
  module.version = words[1];
  std::optional<uint32_t> function;
  Declarations declarations;
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) {
      return InvalidArgumentError(
          Concat({"expected SPIR-V, found an instruction of ", length,
                  " words at word ", at, " of ", words.size()}));
    }
    const std::span<const uint32_t> operands =
        words.subspan(at + 1, length - 1);
    at += length;
    switch (static_cast<spv::Op>(words[at - length] & spv::OpCodeMask)) {
      case spv::Op::OpCapability:
        if (operands.size() == 1) module.capabilities.push_back(operands[0]);
        break;
      case spv::Op::OpEntryPoint:
        if (operands.size() > 2 &&
            operands[0] ==
                static_cast<uint32_t>(spv::ExecutionModel::GLCompute) &&
            Text(operands.subspan(2)) == entry_point) {
          function = operands[1];
          declarations.interface =
              operands.subspan(2 + entry_point.size() / 4 + 1);
        }
        break;
      case spv::Op::OpExecutionMode:
        if (operands.size() == 5 && operands[0] == function &&
            operands[1] == static_cast<uint32_t>(spv::ExecutionMode::LocalSize))
          std::copy_n(operands.begin() + 2, 3, module.workgroup.begin());
        break;
      default:
        declarations.Note(
            static_cast<spv::Op>(words[at - length] & spv::OpCodeMask),
            operands);
        break;
    }
  }
  module.texel_buffers = declarations.TexelBuffers();
  if (function.has_value()) return module;
  return InvalidArgumentError(
      Concat({"expected a compute shader '", entry_point,
              "' in the module, found none"}));
}

}  // namespace ember::hal::vulkan
