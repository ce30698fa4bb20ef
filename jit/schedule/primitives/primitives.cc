
#include "jit/schedule/primitives/primitives.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "jit/schedule/core/attached_stages.h"
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "tensor/names.h"
#include "tensor/range_rules.h"

namespace ember::schedule {
namespace {

struct Row {
  PrimitiveInfo info;
  Status (*run)(Schedule&, const PrimitiveCall&);
  int minimum_operands;
  int maximum_operands;
  int results;
};

constexpr Row kRows[] = {
#define EMBER_ROW(name, function, minimum, maximum, results, keeps, loops, \
                  usage, doc)                                              \
  {{name, usage, doc, keeps, loops}, function, minimum, maximum, results},
    EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW
};

std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  while (true) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    const size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// True if the stage is not computed in another stage's loop and no other stage
// is computed in its loops.
bool IsAlone(const Schedule& schedule, int stage) {
  if (schedule.plan(stage).attach_stage >= 0) return false;
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    if (schedule.plan(i).attach_stage == stage) return false;
  }
  return true;
}

// Checks the rules that hold for each stage.
Status CheckStage(const Schedule& schedule, int stage) {
  EMBER_RETURN_IF_ERROR(CheckMarkedLoops(schedule, stage));
  EMBER_RETURN_IF_ERROR(CheckDots(schedule, stage));
  EMBER_RETURN_IF_ERROR(CheckMatrixLoops(schedule, stage));
  return CheckFolds(schedule, stage);
}

Status UsageError(const Row& row) {
  return InvalidArgumentError("expected '" + std::string(row.info.name) + " " +
                              std::string(row.info.usage) + "'");
}

}  // namespace

std::vector<PrimitiveInfo> Primitives() {
  std::vector<PrimitiveInfo> infos;
  for (const Row& row : kRows) infos.push_back(row.info);
  return infos;
}

const PrimitiveInfo& InfoOf(const PrimitiveCall& call) {
  return kRows[call.primitive].info;
}

Status CheckUnchanged(const Schedule& schedule, int number,
                      std::string_view primitive) {
  const Computation& c = schedule.computation();
  const StagePlan& plan = schedule.plan(number);
  const bool is_changed = plan.attach_stage >= 0 ||
                          plan.loops.size() != c.stages[number].axes.size() ||
                          std::ranges::any_of(plan.loops, [](const Loop& loop) {
                            return loop.mark != LoopMark::kSerial;
                          });
  if (is_changed) {
    return FailedPreconditionError(
        "the stage's loops have been changed already: " +
        std::string(primitive) + " it first");
  }
  for (size_t i = 0; i < c.stages.size(); ++i) {
    if (schedule.plan(static_cast<int>(i)).attach_stage != number) continue;
    return FailedPreconditionError("%" + c.stages[i].name +
                                   " is computed in a loop of the stage");
  }
  return OkStatus();
}

bool KeepsRounding(const Schedule& schedule) {
  if (!schedule.primitives_keep_rounding()) return false;
  // Dot loops and matrices of floats may treat subnormal values as zero.
  const Computation& c = schedule.computation();
  for (size_t i = 0; i < c.stages.size(); ++i) {
    const StagePlan& plan = schedule.plan(static_cast<int>(i));
    const bool has_dots = std::ranges::any_of(plan.loops, [](const Loop& loop) {
      return loop.mark == LoopMark::kDot || loop.mark == LoopMark::kMatrix;
    });
    if (has_dots && IsFloat(c.pool[c.stages[i].values[0]].type)) return false;
  }
  return true;
}

StatusOr<PrimitiveCall> ParsePrimitive(std::string_view line) {
  const std::vector<std::string> words = WordsOf(line);
  if (words.empty()) return InvalidArgumentError("expected a primitive");
  PrimitiveCall call;
  const Row* row = nullptr;
  for (const Row& candidate : kRows) {
    if (candidate.info.name != words[0]) continue;
    row = &candidate;
    call.primitive = static_cast<int>(row - kRows);
  }
  if (row == nullptr) {
    return InvalidArgumentError(
        "expected a primitive (split, fuse, ...), found '" + words[0] + "'");
  }
  bool behind_arrow = false;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "->") {
      if (behind_arrow) return UsageError(*row);
      behind_arrow = true;
      continue;
    }
    (behind_arrow ? call.results : call.operands).push_back(words[i]);
  }
  const int count = static_cast<int>(call.operands.size());
  if (count < row->minimum_operands ||
      (row->maximum_operands >= 0 && count > row->maximum_operands) ||
      static_cast<int>(call.results.size()) != row->results) {
    return UsageError(*row);
  }
  return call;
}

std::string ToText(const PrimitiveCall& call) {
  std::string text(kRows[call.primitive].info.name);
  for (const std::string& operand : call.operands) text += " " + operand;
  if (!call.results.empty()) text += " ->";
  for (const std::string& result : call.results) text += " " + result;
  return text;
}

Status Run(const PrimitiveCall& call, Schedule& schedule) {
  EMBER_RETURN_IF_ERROR(kRows[call.primitive].run(schedule, call));
  // If only the loops of one stage have changed, the other stages are not
  // checked again. That saves time in a schedule of a thousand stages, which is
  // checked after each line.
  if (InfoOf(call).changes_loops_only) {
    EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
    if (IsAlone(schedule, stage)) return CheckStage(schedule, stage);
  }
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i)
    EMBER_RETURN_IF_ERROR(CheckStage(schedule, i));
  EMBER_RETURN_IF_ERROR(CheckAttachments(schedule));
  EMBER_RETURN_IF_ERROR(CheckPartsAreOwn(schedule));
  return CheckDoubleBuffers(schedule);
}

StatusOr<int> StageOperand(const Schedule& schedule, const PrimitiveCall& call,
                           size_t index) {
  const std::string& word = call.operands[index];
  const int stage = word.starts_with("%")
                        ? schedule.computation().FindStage(word.substr(1))
                        : -1;
  if (stage < 0)
    return InvalidArgumentError("expected a stage, found '" + word + "'");
  return stage;
}

StatusOr<int> BufferOperand(const Schedule& schedule, const PrimitiveCall& call,
                            size_t index) {
  const std::string& word = call.operands[index];
  const int buffer = word.starts_with("%")
                         ? schedule.computation().FindBuffer(word.substr(1))
                         : -1;
  if (buffer < 0)
    return InvalidArgumentError("expected a buffer, found '" + word + "'");
  return buffer;
}

StatusOr<int> LoopOperand(const Schedule& schedule, int stage,
                          const PrimitiveCall& call, size_t index) {
  const int loop = schedule.plan(stage).FindLoop(call.operands[index]);
  if (loop < 0) {
    return InvalidArgumentError("expected a loop of %" +
                                schedule.computation().stages[stage].name +
                                ", found '" + call.operands[index] + "'");
  }
  return loop;
}

StatusOr<int64_t> NumberOperand(const PrimitiveCall& call, size_t index) {
  const std::string& word = call.operands[index];
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 1 ||
      number > tensor::kMaxExtent) {
    return InvalidArgumentError("expected a factor of 1 or more, found '" +
                                word + "'");
  }
  return number;
}

Status CheckNewLoopNames(const StagePlan& plan, const PrimitiveCall& call) {
  std::set<std::string> names;
  for (const Loop& loop : plan.loops) names.insert(loop.name);
  for (const std::string& name : call.results) {
    if (!tensor::IsPlainName(name))
      return InvalidArgumentError("expected a name, found '" + name + "'");
    if (!names.insert(name).second)
      return InvalidArgumentError("the stage already has a loop '" + name +
                                  "'");
  }
  return OkStatus();
}

}  // namespace ember::schedule
