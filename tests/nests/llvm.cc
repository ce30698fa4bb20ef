#include <memory>
#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/llvm/testing.h"
#include "jit/loops/text.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "tensor/scalar.h"
#include "tests/cases/elements.h"
#include "tests/nests/runs.h"

namespace ember::nests {
namespace {

// What the kernel computes: "" or what a failed check says.
std::string Call(const loops::LoopNest& nest, const jit::CompiledNest& code,
                 const std::vector<int64_t>& parameters, bool is_at_end,
                 Contents& buffers) {
  const jit::Buffers memory = jit::MakeBuffers(
      nest, parameters,
      [&](const loops::Buffer& buffer, size_t number,
          int64_t element) -> uint64_t {
        return number < buffers.size()
                   ? tensor::LoadElement(buffers[number].data(), element,
                                         buffer.type)
                   : cases::SmallElement(buffer.type, number, element);
      },
      is_at_end);
  std::string error = jit::RunCompiled(nest, code, parameters, memory);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto* const data = static_cast<const uint8_t*>(memory[i]->data());
    buffers[i].assign(data, data + memory[i]->bytes());
  }
  return error;
}

Status Compare(const loops::LoopNest& nest, const jit::CompiledNest& code,
               const std::string& how, const Contents& expected,
               const Contents& found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference =
        cases::FirstDifference(nest.buffers[i].type, expected[i], found[i], {});
    if (difference.empty()) continue;
    return InternalError(
        Concat({how, " gives other results: %", nest.buffers[i].name, ": ",
                difference, "\n", loops::ToText(nest), code.llvm}));
  }
  return OkStatus();
}

// Code of the nest, which is kept for its next call: cases call one nest with
// many parameters.
StatusOr<const jit::CompiledNest*> Compile(const loops::LoopNest& nest,
                                           jit::Effort effort) {
  struct Compiled {
    std::string text;
    std::unique_ptr<jit::CompiledNest> code;
  };
  static Compiled& fast = *new Compiled;
  static Compiled& full = *new Compiled;
  Compiled& kept = effort == jit::Effort::kFast ? fast : full;
  std::string text = loops::ToText(nest);
  if (kept.text != text) {
    EMBER_ASSIGN_OR_RETURN(auto code,
                           jit::TestCompiler().Compile(
                               nest, {.effort = effort, .keep_llvm = true}));
    kept = {.text = std::move(text), .code = std::move(code)};
  }
  return kept.code.get();
}

}  // namespace

std::string LlvmMissing() { return jit::TestMissingHere(); }

std::string LlvmPlace() { return jit::TestPlace(); }

bool LlvmKeepsSubnormals(DType type) {
  return type == DType::kF64 || jit::KeepsSubnormals();
}

Status ScheduleForLlvm(schedule::Schedule& schedule) {
  return ScheduleByModel(jit::TestCpuModel(), schedule, {.exact = true});
}

Status RunLlvm(const loops::LoopNest& nest,
               const std::vector<int64_t>& parameters, Contents& buffers) {
  const Contents before = buffers;
  std::string error;
  bool is_first = true;
  for (const jit::Effort effort : {jit::Effort::kFast, jit::Effort::kFull}) {
    EMBER_ASSIGN_OR_RETURN(const jit::CompiledNest* const code,
                           Compile(nest, effort));
    for (const bool is_at_end : {false, true}) {
      Contents found = before;
      std::string said = Call(nest, *code, parameters, is_at_end, found);
      if (std::exchange(is_first, false)) {
        buffers = found;
        error = said;
      }
      const std::string how =
          Concat({effort == jit::Effort::kFast ? "fast" : "full", " code",
                  is_at_end ? " at the end of memory" : ""});
      if (said != error) {
        return InternalError(
            Concat({how, " says '", said, "', and fast code '", error, "'"}));
      }
      if (!said.empty()) continue;
      EMBER_RETURN_IF_ERROR(Compare(nest, *code, how, buffers, found));
    }
  }
  return error.empty() ? OkStatus() : InvalidArgumentError(error);
}

}  // namespace ember::nests
