#include "tests/cases/instance.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/hash.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/primitives/replay.h"
#include "tests/cases/pass_section.h"
#include "tests/cases/run_section.h"

namespace ember::cases {
namespace {

class Instance {
 public:
  explicit Instance(const InstanceRequest& request)
      : file_(request.file),
        bindings_(request.bindings),
        table_(request.table),
        executors_(request.executors),
        bless_(request.bless),
        counts_(request.counts),
        results_(request.results),
        failures_(request.failures) {}

  void Run(size_t begin, size_t end) {
    ++counts_.subjects;
    ReadSubject(file_.sections[begin]);
    for (size_t i = begin + 1; i < end; ++i) {
      number_ = i;
      Section& section = file_.sections[i];
      const Status status = Check(section);
      if (!status.ok()) Fail(section, status.message());
      if (section.keyword != "schedule")
        ++counts_.expectations[section.keyword];
    }
    const bool is_expected_invalid =
        begin + 1 < end && file_.sections[begin + 1].keyword == "invalid";
    if (!subject_ && frame_.empty() && !is_expected_invalid)
      Fail(file_.sections[begin], invalid_.message());
  }

 private:
  std::string Text(std::string_view text) const {
    return Substituted(text, bindings_);
  }

  void Fail(const Section& section, std::string_view message) {
    std::string which;
    for (const Binding& binding : bindings_)
      which += Concat({" $", binding.name, " = ", binding.value});
    failures_.push_back({file_.path, section.line,
                         Concat({section.keyword, which, ": ", message})});
  }

  void ReadSubject(const Section& section) {
    const std::string text = Text(section.body);
    if (section.keyword == "frame") {
      frame_ = text;
      return;
    }
    StatusOr<Subject> subject =
        section.keyword == "loops"
            ? Subject::OfNest(text, Text(section.operands))
            : Subject::OfDispatch(text, Text(section.operands));
    if (subject.ok())
      subject_ = *std::move(subject);
    else
      invalid_ = subject.status();
  }

  // Compares the expectation in a section's body with the text that was found.
  // With `bless`, writes the found text into the section instead.
  Status Expect(Section& section, const std::string& found) {
    if (bless_ && section.body.find('$') == std::string::npos) {
      section.body = Concat({Trimmed(found), "\n"});
      return OkStatus();
    }
    const std::string expected = Words(Text(section.body));
    if (expected == Words(found)) return OkStatus();
    return InvalidArgumentError(
        Concat({"expected '", expected, "', found '", found, "'"}));
  }

  Status Check(Section& section) {
    if (section.keyword == "invalid") {
      return Expect(section, subject_ ? "what is valid"
                                      : std::string(invalid_.message()));
    }
    if (!frame_.empty()) return CheckFrame(section);
    if (!subject_ || section.keyword == "valid") return OkStatus();
    using Checker = Status (Instance::*)(Section&);
    static constexpr std::pair<std::string_view, Checker> kCheckers[] = {
        {"schedule", &Instance::CheckSchedule},
        {"nest", &Instance::CheckNest},
        {"after", &Instance::CheckAfter},
        {"text", &Instance::CheckText},
        {"refused", &Instance::CheckRefused},
        {"wrong", &Instance::CheckWrong},
        {"unlowered", &Instance::CheckUnlowered},
        {"run", &Instance::CheckRun},
        {"declined", &Instance::CheckDeclined},
        {"figures", &Instance::CheckFigures},
    };
    for (const auto& [keyword, checker] : kCheckers) {
      if (keyword == section.keyword) return (this->*checker)(section);
    }
    return InvalidArgumentError(
        "expected each, dispatch, loops, schedule, nest, after, pass, text, "
        "refused, "
        "wrong, unlowered, valid, invalid, run, declined or figures");
  }

  // Checks a section whose statements replace $BODY in the frame, a loop nest.
  // For "accepts" the nest must verify; for "rejects" the verifier must fail
  // with the message in the section's operands.
  Status CheckFrame(Section& section) {
    if (section.keyword != "accepts" && section.keyword != "rejects")
      return InvalidArgumentError("expected accepts or rejects in a frame");
    const StatusOr<Subject> subject =
        Subject::OfNest(Substituted(frame_, {{"BODY", Text(section.body)}}));
    std::string found =
        subject.ok() ? "nothing" : std::string(subject.status().message());
    if (section.keyword == "accepts") {
      if (subject.ok()) return OkStatus();
      return InvalidArgumentError(Concat({"expected no error, found ", found}));
    }
    // The verifier's error begins with "loops @t: phase 0: ", the context of
    // the frame, which cases do not repeat.
    constexpr std::string_view kContext = ": phase 0: ";
    if (const size_t at = found.find(kContext); at != std::string::npos)
      found = found.substr(at + kContext.size());
    if (bless_ && bindings_.empty() && !subject.ok()) {
      section.operands = found;
      return OkStatus();
    }
    const std::string expected = Text(section.operands);
    if (found == expected) return OkStatus();
    return InvalidArgumentError(
        Concat({"expected '", expected, "', found '", found, "'"}));
  }

  // Makes the section's body the subject's schedule, and checks that it can be
  // applied.
  Status CheckSchedule(Section& section) {
    subject_->schedule = Text(section.body);
    return subject_->Scheduled(nullptr).status();
  }

  // Checks that the text contains the section's body ("has"), does not contain
  // it ("lacks"), or equals it ("is").
  Status CheckPart(Section& section, std::string_view relation,
                   const std::string& text) {
    if (relation == "is") return Expect(section, text);
    const bool has =
        Words(text).find(Words(Text(section.body))) != std::string::npos;
    if (relation == "has" && has) return OkStatus();
    if (relation == "lacks" && !has) return OkStatus();
    if (relation != "has" && relation != "lacks")
      return InvalidArgumentError("expected 'has', 'lacks' or 'is'");
    return InvalidArgumentError(
        Concat({"expected that the ", section.keyword, " ", relation, "\n",
                Text(section.body), "found\n", text}));
  }

  Status CheckNest(Section& section) {
    EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest, subject_->Nest(nullptr));
    return CheckPart(section, section.operands, loops::ToText(nest));
  }

  // Checks the text that a pass of the pipeline leaves. The last operand says
  // how it is compared.
  Status CheckAfter(Section& section) {
    std::vector<std::string> words = SplitWords(Text(section.operands));
    if (words.empty()) return InvalidArgumentError("expected a pass");
    const std::string relation = std::move(words.back());
    words.pop_back();
    EMBER_ASSIGN_OR_RETURN(const std::string text,
                           TextAfterPass(*subject_, words));
    return CheckPart(section, relation, text);
  }

  Status CheckText(Section& section) {
    EMBER_ASSIGN_OR_RETURN(const schedule::Schedule schedule,
                           subject_->Scheduled(nullptr));
    return CheckPart(section, section.operands, schedule.ToText());
  }

  // Checks a section whose operands are a line of a schedule. Applying the line
  // must fail with `code` and must not change the schedule.
  Status CheckLine(Section& section, StatusCode code) {
    EMBER_ASSIGN_OR_RETURN(schedule::Schedule schedule,
                           subject_->Scheduled(nullptr));
    const std::string before = schedule.ToText();
    const std::string line = Text(section.operands);
    const Status status = schedule::Apply(line, schedule);
    if (status.code() != code) {
      return InvalidArgumentError(
          Concat({"expected the code ", Status(code, "").ToString(), ", found ",
                  status.ToString()}));
    }
    if (schedule.ToText() != before)
      return InvalidArgumentError(
          Concat({"the line changed the schedule to\n", schedule.ToText()}));
    std::string_view message = status.message();
    const std::string prefix = line + ": ";
    if (!message.starts_with(prefix)) {
      return InvalidArgumentError(
          Concat({"expected an error that begins with the line, found '",
                  message, "'"}));
    }
    return Expect(section, std::string(message.substr(prefix.size())));
  }
  Status CheckRefused(Section& section) {
    return CheckLine(section, StatusCode::kFailedPrecondition);
  }
  Status CheckWrong(Section& section) {
    return CheckLine(section, StatusCode::kInvalidArgument);
  }

  Status CheckUnlowered(Section& section) {
    EMBER_ASSIGN_OR_RETURN(const schedule::Schedule schedule,
                           subject_->Scheduled(nullptr));
    const auto nest = schedule::Lower(schedule);
    if (nest.ok()) {
      return InvalidArgumentError(
          Concat({"expected a schedule that cannot be lowered, found\n",
                  loops::ToText(*nest)}));
    }
    return Expect(section, nest.status().ToString());
  }

  Status CheckRun(Section& section) {
    EMBER_ASSIGN_OR_RETURN(
        const RunOperands operands,
        RunOperands::Parse(*subject_, Text(section.operands)));
    std::vector<std::string> inputs;
    for (const std::string& line : SplitLines(Text(section.body))) {
      if (IsInputLine(line)) inputs.push_back(line);
    }
    RunResults& results = results_[number_];
    for (const std::vector<int64_t>& parameters : operands.parameters) {
      EMBER_ASSIGN_OR_RETURN(const std::vector<Argument> arguments,
                             subject_->Arguments(parameters));
      EMBER_ASSIGN_OR_RETURN(const std::vector<Bytes> before,
                             MakeBuffers(arguments, inputs));
      CallResult call =
          Call(*subject_, parameters, arguments, before, operands.tolerance,
               operands.Choose(executors_, counts_), counts_);
      for (const std::string& wrong : call.wrong) Fail(section, wrong);
      results.hash = HashCombine(results.hash, call.hash);
      results.elements += call.elements;
      results.lines = std::move(call.lines);
      ++results.calls;
      results.tolerance = operands.tolerance;
    }
    return OkStatus();
  }

  // True for a line that gives elements of an input, or of an output before the
  // call. Other lines are expectations.
  bool IsInputLine(const std::string& line) const {
    if (!line.starts_with('%')) return false;
    if (line.find(" before =") != std::string::npos) return true;
    const std::string name(
        Trimmed(line.substr(1, line.find_first_of("[=") - 1)));
    const auto of = [&](const auto& buffers, auto is_output) {
      for (const auto& buffer : buffers) {
        if (buffer.name == name) return !is_output(buffer);
      }
      return true;
    };
    if (subject_->dispatch) {
      return of(subject_->dispatch->buffers, [](const tensor::Buffer& b) {
        return b.kind == tensor::BufferKind::kOutput;
      });
    }
    return of(subject_->nest->buffers, [](const loops::Buffer& b) {
      return b.scope == loops::MemoryScope::kOutput;
    });
  }

  Status CheckDeclined(Section& section) {
    const std::vector<std::string> words = SplitWords(Text(section.operands));
    if (words.empty()) return InvalidArgumentError("expected an executor");
    for (const Executor* const executor : executors_) {
      if (executor->name != words[0]) continue;
      EMBER_ASSIGN_OR_RETURN(
          const RunOperands operands,
          RunOperands::Parse(*subject_,
                             Text(section.operands).substr(words[0].size())));
      EMBER_ASSIGN_OR_RETURN(const std::vector<Argument> arguments,
                             subject_->Arguments(operands.parameters[0]));
      EMBER_ASSIGN_OR_RETURN(std::vector<Bytes> buffers,
                             MakeBuffers(arguments, {}));
      const Outcome outcome = executor->run(
          *subject_, {.parameters = operands.parameters[0]}, buffers);
      if (!outcome.declined.empty()) return Expect(section, outcome.declined);
      return Expect(section, outcome.status.ToString());
    }
    const bool is_known = std::ranges::any_of(
        table_,
        [&](const Executor& executor) { return executor.name == words[0]; });
    // An executor that is missing on this machine is skipped; the summary at
    // the end of the run says so.
    if (is_known) return OkStatus();
    return InvalidArgumentError(
        Concat({"expected an executor, found '", words[0], "'"}));
  }

  Status CheckFigures(Section& section) {
    const std::vector<std::string> words = SplitWords(Text(section.operands));
    for (const Executor& executor : table_) {
      if (words.size() != 2 || executor.name != words[0] ||
          executor.figures == nullptr)
        continue;
      EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
                             subject_->Nest(nullptr));
      const StatusOr<std::string> found = executor.figures(nest, words[1]);
      return Expect(section, found.ok() ? std::string(Trimmed(*found))
                                        : found.status().ToString());
    }
    return InvalidArgumentError(
        "expected an executor that knows figures, and a target");
  }

  CaseFile& file_;
  const std::vector<Binding>& bindings_;
  const std::span<const Executor> table_;
  const std::vector<const Executor*>& executors_;
  const bool bless_;
  Counts& counts_;
  std::map<size_t, RunResults>& results_;
  std::vector<Failure>& failures_;
  std::optional<Subject> subject_;
  std::string frame_;
  Status invalid_;
  size_t number_ = 0;
};

}  // namespace

void RunInstance(const InstanceRequest& request) {
  Instance(request).Run(request.begin, request.end);
}

}  // namespace ember::cases
