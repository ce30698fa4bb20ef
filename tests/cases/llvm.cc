#include <memory>
#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/llvm/testing.h"
#include "jit/loops/text.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "tensor/scalar.h"
#include "tests/cases/executor_runs.h"

namespace ember::cases {
namespace {

// What the kernel computes: "" or what a failed check says.
std::string Call(const loops::LoopNest& nest, const jit::CompiledNest& code,
                 const std::vector<int64_t>& parameters, bool is_at_end,
                 std::vector<Bytes>& buffers) {
  const jit::Buffers memory = jit::MakeBuffers(
      nest, parameters,
      [&](const loops::Buffer& buffer, size_t number,
          int64_t element) -> uint64_t {
        return number < buffers.size()
                   ? tensor::LoadElement(buffers[number].data(), element,
                                         buffer.type)
                   : SmallElement(buffer.type, number, element);
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
               const std::string& how, const std::vector<Bytes>& expected,
               const std::vector<Bytes>& found) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference =
        FirstDifference(nest.buffers[i].type, expected[i], found[i], {});
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

bool LlvmKeepsSubnormals() { return jit::KeepsSubnormals(); }

Outcome RunLlvm(const Subject& subject, const Run& run,
                std::vector<Bytes>& buffers) {
  const auto nest = subject.Nest([](schedule::Schedule& schedule) {
    return ScheduleByModel(jit::TestCpuModel(), schedule, {.exact = true});
  });
  if (!nest.ok()) return Outcome::Of(nest.status());
  const std::vector<Bytes> before = buffers;
  std::string error;
  bool is_first = true;
  for (const jit::Effort effort : {jit::Effort::kFast, jit::Effort::kFull}) {
    const auto code = Compile(*nest, effort);
    if (!code.ok()) return Outcome::Of(code.status());
    for (const bool is_at_end : {false, true}) {
      std::vector<Bytes> found = before;
      std::string said = Call(*nest, **code, run.parameters, is_at_end, found);
      if (std::exchange(is_first, false)) {
        buffers = found;
        error = said;
      }
      const std::string how =
          Concat({effort == jit::Effort::kFast ? "fast" : "full", " code",
                  is_at_end ? " at the end of memory" : ""});
      if (said != error) {
        return Outcome::Ran(InternalError(
            Concat({how, " says '", said, "', and fast code '", error, "'"})));
      }
      if (!said.empty()) continue;
      if (Status same = Compare(*nest, **code, how, buffers, found); !same.ok())
        return Outcome::Ran(same);
    }
  }
  return Outcome::Ran(error.empty() ? OkStatus() : InvalidArgumentError(error));
}

}  // namespace ember::cases
