#include "tests/cases/pass_section.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "jit/backend/backend.h"
#include "jit/llvm/library/full_compiler.h"
#include "jit/loops/text/text.h"
#include "jit/loops/walk.h"
#include "jit/pipeline/nest_passes.h"
#include "jit/pipeline/runner.h"
#include "jit/pipeline/target_passes.h"
#include "jit/registry/backends.h"
#include "jit/schedule/primitives/replay.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::cases {
namespace {

struct Words {
  std::string_view pass;
  std::string target = "c11";
  jit::PassOptions options = {.keeps_texts = true, .verifies = true};
};

StatusOr<Words> ParseWords(std::span<const std::string> words) {
  Words parsed;
  if (words.size() % 2 == 0) return InvalidArgumentError("expected a pass");
  parsed.pass = words[0];
  for (size_t i = 1; i + 1 < words.size(); i += 2) {
    if (words[i] == "for") {
      parsed.target = words[i + 1];
    } else if (words[i] == "without") {
      parsed.options.disabled.insert(words[i + 1]);
    } else {
      return InvalidArgumentError(
          Concat({"expected 'for' or 'without', found '", words[i], "'"}));
    }
  }
  return parsed;
}

template <typename Build>
const jit::Pass<Build>* Find(std::span<const jit::Pass<Build>> passes,
                             std::string_view name) {
  const auto found = std::ranges::find_if(
      passes, [&](const auto& pass) { return pass.info.name == name; });
  return found == passes.end() ? nullptr : &*found;
}

jit::NestBuild BuildOf(const Subject& subject, const std::string& target) {
  jit::NestBuild build;
  build.dispatch = &*subject.dispatch;
  for (const tensor::Buffer& buffer : subject.dispatch->buffers) {
    if (buffer.kind != tensor::BufferKind::kInput) continue;
    build.constants.emplace_back();
    if (std::ranges::count(subject.constants, buffer.name) > 0)
      build.constants.back() = std::span<const uint8_t>();
  }
  build.choose = [&](schedule::Schedule& schedule) -> Status {
    return subject.schedule
               ? schedule::Replay(*subject.schedule, schedule)
               : jit::BackendFor(target).schedule(target, {}, schedule);
  };
  return build;
}

// Runs a single pass on a subject that is a loop nest; the passes before it do
// not run.
Status RunAlone(const jit::Pass<jit::NestBuild>& pass, const Subject& subject,
                jit::PassLog& log) {
  const auto* const lower = jit::LoweringPasses().data();
  if (&pass <= lower || pass.info.name == "pad-rows") {
    return InvalidArgumentError(
        Concat({"expected a dispatch for the pass ", pass.info.name}));
  }
  jit::NestBuild build;
  build.nest = *subject.nest;
  build.has_invocations =
      std::ranges::any_of(build.nest.phases, [](const loops::Phase& phase) {
        return loops::HasInvocationLoop(phase.body);
      });
  return jit::RunPasses(std::span(&pass, 1), build, log);
}

// Runs the passes that make code of a loop nest for the target. The code is
// dropped; the log has the passes' texts.
Status Compile(const loops::LoopNest& nest, const std::string& target,
               jit::PassLog& log) {
  static const auto& compiler =
      *new StatusOr<std::unique_ptr<jit::ObjectCompiler>>(
          jit::llvm_ir::NewFullCompiler());
  EMBER_RETURN_IF_ERROR(compiler.status());
  vm::KernelRequest request;
  request.target = target;
  request.tier = 2;
  return jit::BackendFor(target)
      .compile(request, nest, {.compiler = **compiler, .log = &log}, nullptr)
      .status();
}

Status CheckParsesBack(const std::string& text) {
  EMBER_ASSIGN_OR_RETURN(const loops::LoopNest parsed, loops::Parse(text));
  if (loops::ToText(parsed) == text) return OkStatus();
  return InvalidArgumentError(
      Concat({"expected a text that parses back:\n", text}));
}

}  // namespace

StatusOr<std::string> TextAfterPass(const Subject& subject,
                                    std::span<const std::string> given) {
  EMBER_ASSIGN_OR_RETURN(Words words, ParseWords(given));
  const auto* const of_nest = Find(jit::NestPasses(), words.pass);
  if (of_nest == nullptr && !Find(jit::TargetPasses(), words.pass)) {
    return InvalidArgumentError(
        Concat({"expected a pass of vm-run --print-pipeline, found '",
                words.pass, "'"}));
  }
  // The pass "normalise" would rename and join axes, but the case's own
  // schedule refers to the axes of the dispatch. So it is left out.
  if (subject.schedule) words.options.disabled.insert("normalise");
  jit::PassLog log = {.options = words.options};
  std::optional<loops::LoopNest> nest = subject.nest;
  Status status;
  if (subject.dispatch) {
    jit::NestBuild build = BuildOf(subject, words.target);
    const auto passes = jit::NestPasses();
    const size_t count = of_nest == nullptr
                             ? passes.size()
                             : static_cast<size_t>(of_nest - passes.data()) + 1;
    status = jit::RunPasses(passes.first(count), build, log);
    nest = std::move(build.nest);
  } else if (of_nest != nullptr) {
    status = RunAlone(*of_nest, subject, log);
    if (status.code() == StatusCode::kInvalidArgument) return status;
  }
  if (status.ok() && of_nest == nullptr)
    status = Compile(*nest, words.target, log);
  const std::string text = jit::TextAfter(log, words.pass);
  if (!text.empty() && of_nest == nullptr)
    EMBER_RETURN_IF_ERROR(CheckParsesBack(text));
  if (!text.empty()) return text;
  return status.ok() ? std::string("nothing") : status.ToString();
}

}  // namespace ember::cases
