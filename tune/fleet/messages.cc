#include "tune/fleet/messages.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "base/one_line.h"
#include "base/sha256.h"
#include "base/target_text.h"
#include "jit/kernel/tuned_schedules.h"
#include "tensor/concrete_header.h"
#include "tensor/text/text.h"
#include "tune/fleet/job_id.h"
#include "tune/fleet/job_queue.h"
#include "tune/measure/random_elements.h"

namespace ember::tune {
namespace {

constexpr std::string_view kTaskHeader = "ember task 1";
constexpr std::string_view kJobHeader = "ember job 1";
constexpr size_t kNameDigits = 32;
constexpr size_t kMaxTarget = 1000;
constexpr size_t kMaxParameters = 64;
constexpr std::string_view kDigits = "0123456789abcdef";

// The data to which a parsed task's request refers: its dispatch and constants.
struct OwnedTask {
  tensor::Dispatch dispatch;
  std::vector<std::vector<uint8_t>> constants;  // one per input
};

std::string Hex(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Status WrongLine(const char* expected, std::string_view found) {
  constexpr size_t kMaxShown = 60;
  return DataLossError(Concat({"expected '", expected, "', found '",
                               OnOneLine(found.substr(0, kMaxShown)), "'"}));
}

// Reads a text line by line, from its beginning.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool IsNext(std::string_view key) const { return rest_.starts_with(key); }

  Status TakeHeader(std::string_view header) {
    const std::string_view line = Next();
    if (line == header) return OkStatus();
    return WrongLine(std::string(header).c_str(), line);
  }
  // Reads the next line, which must begin with the word `key`, and returns the
  // rest of the line.
  StatusOr<std::string_view> Take(std::string_view key) {
    const std::string_view line = Next();
    if (line == key) return std::string_view();
    if (line.starts_with(key) && line.size() > key.size() &&
        line[key.size()] == ' ')
      return line.substr(key.size() + 1);
    return WrongLine(std::string(key).c_str(), line);
  }

 private:
  std::string_view Next() {
    const size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }

  std::string_view rest_;
};

// Parses a number at the beginning of `text` and removes it, together with the
// space that follows.
template <typename Number>
Status TakeNumber(std::string_view& text, Number& number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const auto count = static_cast<size_t>(end - text.data());
  if (error != std::errc() || (count < text.size() && text[count] != ' '))
    return WrongLine("a number", text);
  text.remove_prefix(std::min(text.size(), count + 1));
  return OkStatus();
}

Status CheckSize(std::string_view text, const char* what) {
  if (text.size() <= kMaxMessageBytes) return OkStatus();
  return ResourceExhaustedError(
      Concat({what, ": expected at most ", kMaxMessageBytes, " bytes, found ",
              text.size()}));
}

Status CheckTarget(std::string_view target) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-=.";
  if (!target.empty() && target.size() <= kMaxTarget &&
      target.find_first_not_of(kAllowed) == std::string_view::npos)
    return OkStatus();
  return WrongLine("a target", target);
}

// Returns the task's readable name, shortened and without line breaks, so that
// it fits in one line of a message.
std::string NameOf(const Task& task) {
  constexpr size_t kMaxName = 200;
  return OnOneLine(task.name.substr(0, kMaxName));
}

// Returns for each constant whether its values are sent with the task. Small
// constants are chosen first, up to kMaxConstantBytes together.
std::vector<bool> KeptConstants(const vm::KernelRequest& request) {
  std::vector<size_t> order(request.constant_inputs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](size_t i) { return request.constant_data[i].size(); });
  std::vector<bool> kept(order.size());
  size_t bytes = 0;
  for (const size_t i : order) {
    if (!request.constant_inputs[i]) continue;
    bytes += request.constant_data[i].size();
    kept[i] = bytes <= kMaxConstantBytes;
  }
  return kept;
}

Status ReadHex(std::string_view text, std::vector<uint8_t>& bytes) {
  if (text.size() != bytes.size() * 2 || !IsHex(text, text.size())) {
    return DataLossError(
        Concat({"a constant: expected ", bytes.size() * 2,
                " hexadecimal digits, found ", text.size(), " characters"}));
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(kDigits.find(text[2 * i]) << 4 |
                                    kDigits.find(text[2 * i + 1]));
  }
  return OkStatus();
}

// Parses the "constant" lines of a task, and makes the bytes of these
// constants: from the line, or at random.
Status ReadConstants(Lines lines, const tensor::ConcreteHeader& header,
                     OwnedTask& owned, vm::KernelRequest& request) {
  const size_t count = owned.dispatch.input_count();
  owned.constants.resize(count);
  request.constant_inputs.assign(count, false);
  request.constant_data.assign(count, {});
  while (lines.IsNext("constant ")) {
    EMBER_ASSIGN_OR_RETURN(std::string_view line, lines.Take("constant"));
    size_t input = 0;
    EMBER_RETURN_IF_ERROR(TakeNumber(line, input));
    if (input >= count || request.constant_inputs[input])
      return WrongLine("the number of an input that is no constant yet", line);
    const tensor::Buffer& buffer = owned.dispatch.buffers[input];
    std::vector<uint8_t>& bytes = owned.constants[input];
    bytes.resize(static_cast<size_t>(header.ElementCount(buffer) *
                                     DTypeByteSize(buffer.type)));
    if (line == "random") {
      std::mt19937_64 engine(input + 1);
      FillRandom(buffer.type, bytes.data(), bytes.size(), engine);
    } else {
      EMBER_RETURN_IF_ERROR(ReadHex(line, bytes));
    }
    request.constant_inputs[input] = true;
    request.constant_data[input] = bytes;
  }
  return OkStatus();
}

// Returns an error if the operands have more than kMaxOperandBytes, because
// they would fill the memory of a worker's machine.
Status CheckOperands(const tensor::Dispatch& dispatch,
                     const tensor::ConcreteHeader& header) {
  int64_t bytes = 0;
  for (const tensor::Buffer& buffer : dispatch.buffers) {
    const int64_t count = header.ElementCount(buffer);
    if (count > kMaxOperandBytes) bytes = kMaxOperandBytes;
    bytes += count > kMaxOperandBytes ? 1 : count * DTypeByteSize(buffer.type);
    if (bytes > kMaxOperandBytes) {
      return ResourceExhaustedError(Concat(
          {"expected operands of at most ", kMaxOperandBytes, " bytes"}));
    }
  }
  return OkStatus();
}

}  // namespace

std::string ChannelOf(std::string_view target) {
  std::string channel(TargetText(target).name());
  std::ranges::replace_if(
      channel,
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 (c >= '0' && c <= '9') || c == '_');
      },
      '-');
  return channel + "-" + HexDigits(HashString(jit::WithoutCores(target)));
}

StatusOr<std::string> WriteTask(const Task& task) {
  const vm::KernelRequest& request = task.request;
  std::string text =
      Concat({kTaskHeader, "\nname ", NameOf(task), "\nkey ", task.key,
              "\ntarget ", request.target, "\nparameters"});
  for (const int64_t parameter : request.parameters)
    text += " " + std::to_string(parameter);
  text += "\n";
  const std::vector<bool> kept = KeptConstants(request);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!request.constant_inputs[i]) continue;
    text += Concat({"constant ", i, " ",
                    kept[i] ? Hex(request.constant_data[i]) : "random", "\n"});
  }
  text += "dispatch\n" + tensor::Print(*request.dispatch);
  const Status size = CheckSize(text, task.name.c_str());
  if (!size.ok()) return size;
  return text;
}

std::string NameOfTask(std::string_view text) {
  return ToHex(Sha256({text})).substr(0, kNameDigits);
}

StatusOr<Task> ReadTask(std::string_view text) {
  EMBER_RETURN_IF_ERROR(CheckSize(text, "a task"));
  Lines lines(text);
  EMBER_RETURN_IF_ERROR(lines.TakeHeader(kTaskHeader));
  EMBER_ASSIGN_OR_RETURN(const std::string_view name, lines.Take("name"));
  EMBER_ASSIGN_OR_RETURN(const std::string_view key, lines.Take("key"));
  EMBER_ASSIGN_OR_RETURN(const std::string_view target, lines.Take("target"));
  EMBER_RETURN_IF_ERROR(CheckTarget(target));
  EMBER_ASSIGN_OR_RETURN(std::string_view parameters, lines.Take("parameters"));
  vm::KernelRequest request;
  request.target = target;
  while (!parameters.empty()) {
    EMBER_RETURN_IF_ERROR(
        TakeNumber(parameters, request.parameters.emplace_back()));
    if (request.parameters.size() > kMaxParameters)
      return WrongLine("at most 64 parameters", parameters);
  }
  // The lines of constants come before the dispatch, but only the dispatch
  // gives the constants' sizes. So these lines are skipped here and parsed
  // later.
  const Lines constants = lines;
  while (lines.IsNext("constant "))
    EMBER_RETURN_IF_ERROR(lines.Take("constant").status());
  EMBER_RETURN_IF_ERROR(lines.TakeHeader("dispatch"));
  auto owned = std::make_shared<OwnedTask>();
  EMBER_ASSIGN_OR_RETURN(owned->dispatch, tensor::Parse(lines.rest()));
  if (owned->dispatch.parameters.size() != request.parameters.size()) {
    return DataLossError(
        Concat({"expected ", owned->dispatch.parameters.size(),
                " parameters, found ", request.parameters.size()}));
  }
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(owned->dispatch, request.parameters));
  EMBER_RETURN_IF_ERROR(CheckOperands(owned->dispatch, header));
  EMBER_RETURN_IF_ERROR(ReadConstants(constants, header, *owned, request));
  request.dispatch = &owned->dispatch;
  request.owner = std::move(owned);
  Task task = MakeTask(request);
  task.name = OnOneLine(name);
  if (task.key == key) return task;
  constexpr std::string_view kAdvice =
      "; the tuner and the worker must be of the same version";
  return DataLossError(Concat({"expected a dispatch with key ", OnOneLine(key),
                               ", found one with ", task.key, kAdvice}));
}

std::string WriteJob(const JobMessage& job) {
  return Concat({kJobHeader, "\ntask ", job.task, "\ntarget ", job.target,
                 "\ntrial\n", WriteTrial(job.trial)});
}

StatusOr<JobMessage> ReadJob(std::string_view text) {
  EMBER_RETURN_IF_ERROR(CheckSize(text, "a job"));
  Lines lines(text);
  EMBER_RETURN_IF_ERROR(lines.TakeHeader(kJobHeader));
  JobMessage job;
  EMBER_ASSIGN_OR_RETURN(const std::string_view task, lines.Take("task"));
  if (!IsHex(task, kNameDigits)) return WrongLine("the name of a task", task);
  job.task = task;
  EMBER_ASSIGN_OR_RETURN(const std::string_view target, lines.Take("target"));
  EMBER_RETURN_IF_ERROR(CheckTarget(target));
  job.target = target;
  EMBER_RETURN_IF_ERROR(lines.TakeHeader("trial"));
  EMBER_ASSIGN_OR_RETURN(job.trial, ReadTrial(lines.rest()));
  if (!std::isfinite(job.trial.best) || job.trial.best <= 0)
    return DataLossError("a trial: expected a ratio above 0");
  return job;
}

StatusOr<TrialResult> ReadAnswer(std::string_view text) {
  // Answers with larger numbers are refused as impossible: no call takes an
  // hour, and no kernel takes a day to compile.
  constexpr double kMaxSeconds = 3600, kMaxRatio = 1e4, kMaxCompileMs = 8.64e7;
  constexpr size_t kMaxAnswer = 8000;
  if (text.size() > kMaxAnswer) {
    return ResourceExhaustedError(
        Concat({"an answer: expected at most ", kMaxAnswer, " bytes, found ",
                text.size()}));
  }
  EMBER_ASSIGN_OR_RETURN(TrialResult result, ReadResult(text));
  const auto is_within = [](double number, double most) {
    return std::isfinite(number) && number >= 0 && number <= most;
  };
  const bool is_timed = result.outcome == Outcome::kMeasured ||
                        result.outcome == Outcome::kHopeless;
  if (!is_within(result.seconds, kMaxSeconds) ||
      !is_within(result.ratio, kMaxRatio) ||
      !is_within(result.compile_ms, kMaxCompileMs) ||
      (is_timed && (result.seconds == 0 || result.ratio == 0)))
    return DataLossError("an answer has an impossible time");
  result.reason = OnOneLine(result.reason);
  return result;
}

}  // namespace ember::tune
