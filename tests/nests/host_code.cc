#include "tests/nests/host_code.h"

#include <memory>
#include <utility>

#include "base/concat.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "tensor/scalar.h"
#include "tests/cases/elements.h"

namespace ember::nests {
namespace {

// Runs the code on buffers in guarded memory. Returns "", or the message of a
// check in the code that failed.
std::string Call(const loops::LoopNest& nest, const jit::CompiledNest& code,
                 const std::vector<int64_t>& parameters, bool is_at_end,
                 Contents& buffers) {
  const jit::llvm_ir::Buffers memory = jit::llvm_ir::MakeBuffers(
      nest, parameters,
      [&](const loops::Buffer& buffer, size_t number,
          int64_t element) -> uint64_t {
        return number < buffers.size()
                   ? tensor::LoadElement(buffers[number].data(), element,
                                         buffer.type)
                   : cases::SmallElement(buffer.type, number, element);
      },
      is_at_end);
  std::string error = jit::llvm_ir::RunCompiled(nest, code, parameters, memory);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto* const data = static_cast<const uint8_t*>(memory[i]->data());
    buffers[i].assign(data, data + memory[i]->bytes());
  }
  return error;
}

Status Compare(const loops::LoopNest& nest, const HostCode& code,
               const std::string& how, const Contents& expected,
               const Contents& found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference =
        cases::FirstDifference(nest.buffers[i].type, expected[i], found[i], {});
    if (difference.empty()) continue;
    return InternalError(
        Concat({how, " gives other results: %", nest.buffers[i].name, ": ",
                difference, "\n", loops::ToText(nest), code.text}));
  }
  return OkStatus();
}

}  // namespace

Status RunHostCode(const loops::LoopNest& nest, std::span<const HostCode> codes,
                   const std::vector<int64_t>& parameters, Contents& buffers) {
  const Contents before = buffers;
  std::string error;
  bool is_first = true;
  for (const HostCode& code : codes) {
    for (const bool is_at_end : {false, true}) {
      Contents found = before;
      std::string said = Call(nest, *code.code, parameters, is_at_end, found);
      if (std::exchange(is_first, false)) {
        buffers = found;
        error = said;
      }
      const std::string how =
          Concat({code.how, is_at_end ? " at the end of memory" : ""});
      if (said != error) {
        return InternalError(Concat(
            {how, " says '", said, "', and ", codes[0].how, " '", error, "'"}));
      }
      if (!said.empty()) continue;
      EMBER_RETURN_IF_ERROR(Compare(nest, code, how, buffers, found));
    }
  }
  return error.empty() ? OkStatus() : InvalidArgumentError(error);
}

}  // namespace ember::nests
