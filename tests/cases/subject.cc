#include "tests/cases/subject.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/backend/testing/nest_layout.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/concrete_header.h"
#include "tensor/text/text.h"
#include "tests/cases/case_file.h"

namespace ember::cases {

StatusOr<Subject> Subject::OfDispatch(std::string_view text,
                                      std::string_view facts) {
  Subject subject;
  EMBER_ASSIGN_OR_RETURN(subject.dispatch, tensor::Parse(text));
  const std::vector<std::string> words = SplitWords(facts);
  if (!words.empty() && words[0] != "constant") {
    return InvalidArgumentError(
        Concat({"expected 'constant %INPUT…', found '", facts, "'"}));
  }
  for (size_t i = 1; i < words.size(); ++i) {
    const auto is_it = [&](const tensor::Buffer& buffer) {
      return buffer.kind == tensor::BufferKind::kInput &&
             Concat({"%", buffer.name}) == words[i];
    };
    if (std::ranges::none_of(subject.dispatch->buffers, is_it)) {
      return InvalidArgumentError(
          Concat({"expected an input, found '", words[i], "'"}));
    }
    subject.constants.push_back(words[i].substr(1));
  }
  return subject;
}

StatusOr<Subject> Subject::OfNest(std::string_view text,
                                  std::string_view facts) {
  Subject subject;
  EMBER_ASSIGN_OR_RETURN(subject.nest, loops::Parse(text));
  if (!facts.empty() && facts != "unverified") {
    return InvalidArgumentError(
        Concat({"expected 'unverified' or nothing, found '", facts, "'"}));
  }
  const Status verified = loops::Verify(*subject.nest);
  subject.is_verified = verified.ok();
  if (facts.empty()) EMBER_RETURN_IF_ERROR(verified);
  if (!facts.empty() && verified.ok())
    return InvalidArgumentError("the nest is verified");
  return subject;
}

std::string_view Subject::name() const {
  return dispatch ? dispatch->name : nest->name;
}

const std::vector<std::string>& Subject::parameters() const {
  return dispatch ? dispatch->parameters : nest->parameters;
}

StatusOr<std::vector<Argument>> Subject::Arguments(
    const std::vector<int64_t>& values) const {
  std::vector<Argument> arguments;
  if (dispatch) {
    EMBER_ASSIGN_OR_RETURN(const tensor::ConcreteHeader header,
                           tensor::ConcreteHeader::Evaluate(*dispatch, values));
    for (const tensor::Buffer& buffer : dispatch->buffers) {
      if (buffer.kind == tensor::BufferKind::kTemporary) continue;
      arguments.push_back({buffer.name, buffer.type,
                           buffer.kind == tensor::BufferKind::kOutput,
                           header.ElementCount(buffer)});
    }
    return arguments;
  }
  const jit::NestHeader header(*nest);
  EMBER_ASSIGN_OR_RETURN(const jit::NestLayout layout,
                         header.LayoutFor(values));
  for (size_t i = 0; i < nest->buffers.size(); ++i) {
    const loops::Buffer& buffer = nest->buffers[i];
    if (buffer.scope != loops::MemoryScope::kInput &&
        buffer.scope != loops::MemoryScope::kOutput)
      break;
    arguments.push_back({buffer.name, buffer.type,
                         buffer.scope == loops::MemoryScope::kOutput,
                         layout.bytes[i] / DTypeByteSize(buffer.type)});
  }
  return arguments;
}

schedule::Computation Subject::Computation(
    const std::vector<int64_t>& specialised) const {
  schedule::Computation computation =
      schedule::Disassemble(*dispatch, specialised);
  for (schedule::ComputationBuffer& buffer : computation.buffers) {
    if (std::ranges::count(constants, buffer.name) > 0)
      buffer.is_constant = true;
  }
  return computation;
}

StatusOr<schedule::Schedule> Subject::Scheduled(
    const Scheduler& by_default,
    const std::vector<int64_t>& specialised) const {
  schedule::Computation computation = Computation(specialised);
  if (!this->schedule && by_default) {
    schedule::Normalise(computation);
  }
  schedule::Schedule made(std::move(computation));
  if (this->schedule) {
    EMBER_RETURN_IF_ERROR(schedule::Replay(*this->schedule, made));
  } else if (by_default) {
    EMBER_RETURN_IF_ERROR(by_default(made));
  }
  return made;
}

StatusOr<loops::LoopNest> Subject::Nest(
    const Scheduler& by_default,
    const std::vector<int64_t>& specialised) const {
  if (nest) return *nest;
  EMBER_ASSIGN_OR_RETURN(const schedule::Schedule made,
                         Scheduled(by_default, specialised));
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest lowered, schedule::Lower(made));
  if (Status status = loops::Verify(lowered); !status.ok()) {
    return jit::Decline(
        jit::DeclineReason::kNoProof,
        Concat({status.message(), " in\n", loops::ToText(lowered)}));
  }
  return lowered;
}

}  // namespace ember::cases
