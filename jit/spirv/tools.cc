#include "jit/spirv/tools.h"

#include <spirv-tools/libspirv.hpp>

#include "base/concat.h"

namespace ember::jit::spirv {
namespace {

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;

}  // namespace

Status ValidateModule(std::span<const uint32_t> words) {
  spvtools::SpirvTools tools(kEnvironment);
  std::string log;
  // The first message says what is wrong.
  tools.SetMessageConsumer([&](spv_message_level_t, const char*,
                               const spv_position_t&, const char* message) {
    if (log.empty()) log = message;
  });
  if (tools.Validate(words.data(), words.size())) return OkStatus();
  return InternalError(Concat({"SPIR-V module: ", log}));
}

std::string DisassembleModule(std::span<const uint32_t> words) {
  spvtools::SpirvTools tools(kEnvironment);
  std::string log, text;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*,
                               const spv_position_t&, const char* message) {
    log += message;
    log += '\n';
  });
  const bool works =
      tools.Disassemble(words.data(), words.size(), &text,
                        SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                            SPV_BINARY_TO_TEXT_OPTION_INDENT);
  return works ? text : log;
}

}  // namespace ember::jit::spirv
