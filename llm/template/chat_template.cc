#include "llm/template/chat_template.h"

#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/template/json_text.h"
#include "llm/template/parser.h"

namespace ember::llm {
namespace {

using Result = StatusOr<Value>;

constexpr std::string_view kContext = "chat template";
// Largest number of items of range(), the same as in Jinja's sandbox.
constexpr int64_t kMaxRange = 100'000;
constexpr size_t kMaxTimeFormat = 256;

Result Range(Evaluator& evaluator, const Arguments& arguments) {
  int64_t bounds[3] = {0, 0, 1};
  const Value::Items& given = arguments.positional;
  if (given.empty() || given.size() > 3) {
    return InvalidArgumentError("range: expected 1 to 3 integers");
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i].is_integer()) {
      return InvalidArgumentError(
          Concat({"range: expected integers, found ", given[i].TypeName()}));
    }
    bounds[given.size() == 1 ? 1 : i] = given[i].integer();
  }
  const auto [begin, end, step] = bounds;
  if (step == 0) return InvalidArgumentError("range: expected a step, found 0");
  Value::Items items;
  int64_t at = begin;
  while (step > 0 ? at < end : at > end) {
    if (static_cast<int64_t>(items.size()) >= kMaxRange) {
      return ResourceExhaustedError(Concat(
          {"range: expected at most ", kMaxRange, " integers, found more"}));
    }
    EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(1));
    items.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return evaluator.MakeList(std::move(items));
}

// Implements dict(): returns a dict of the entries of an optional dict and of
// the named arguments.
StatusOr<Dict> DictOf(const Arguments& arguments, std::string_view function) {
  Dict dict;
  if (!arguments.positional.empty()) {
    const Value& first = arguments.positional.front();
    if (!first.is_dict() || arguments.positional.size() > 1) {
      return InvalidArgumentError(
          Concat({function, ": expected a dict, found ", first.TypeName()}));
    }
    dict = first.dict();
  }
  for (const auto& [name, value] : arguments.named) {
    dict.Set(Value(name), value);
  }
  return dict;
}

Result MakeDict(Evaluator& evaluator, const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(Dict dict, DictOf(arguments, "dict"));
  return evaluator.MakeDict(std::move(dict));
}

Result MakeNamespace(Evaluator& evaluator, const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Dict dict, DictOf(arguments, "namespace"));
  EMBER_RETURN_IF_ERROR(
      evaluator.ChargeBytes((dict.size() + 2) * 4 * sizeof(Value)));
  const Value result = evaluator.MakeNamespace();
  for (const auto& [key, value] : dict.entries()) {
    result.attributes().attributes.insert_or_assign(key.ToText(), value);
  }
  return result;
}

Result RaiseException(Evaluator& evaluator, const Arguments& arguments) {
  std::string message;
  if (const Value* const given = arguments.Find(0, "message")) {
    EMBER_ASSIGN_OR_RETURN(message, evaluator.TextOf(*given));
  }
  return InvalidArgumentError(Concat({"the template refuses the messages: ",
                                      OnOneLine(Shortened(message, 400))}));
}

// Returns the template function strftime_now, which writes `now` in a format of
// strftime.
Value TimeFunction(const std::tm& now) {
  return Value::OfFunction(
      [now](Evaluator& evaluator, const Arguments& arguments) -> Result {
        const Value* const format = arguments.Find(0, "format");
        if (format == nullptr || !format->is_text() ||
            format->text().size() > kMaxTimeFormat) {
          return InvalidArgumentError(
              "strftime_now: expected a short text as the format");
        }
        char text[4 * kMaxTimeFormat];
        const size_t size =
            std::strftime(text, sizeof text, format->text().c_str(), &now);
        return evaluator.MakeText(std::string(text, size));
      });
}

Status SetJson(std::string_view name, const std::string& text,
               Evaluator* evaluator) {
  if (text.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(Value value, ParseJsonValue(text, name));
  evaluator->SetGlobal(name, std::move(value));
  return OkStatus();
}

Status SetVariables(const ChatInput& input, Evaluator* evaluator) {
  evaluator->SetGlobal("range", Value::OfFunction(Range));
  evaluator->SetGlobal("dict", Value::OfFunction(MakeDict));
  evaluator->SetGlobal("namespace", Value::OfFunction(MakeNamespace));
  evaluator->SetGlobal("raise_exception", Value::OfFunction(RaiseException));
  evaluator->SetGlobal("strftime_now", TimeFunction(input.now));
  evaluator->SetGlobal("messages", Value::List({}));
  evaluator->SetGlobal("add_generation_prompt",
                       Value(input.add_generation_prompt));
  // tools and documents are defined as None when they are not given, as the
  // transformers library does it.
  evaluator->SetGlobal("tools", Value());
  evaluator->SetGlobal("documents", Value());
  evaluator->SetGlobal("bos_token", Value(input.begin_of_text));
  evaluator->SetGlobal("eos_token", Value(input.end_of_text));
  if (!input.unknown.empty()) {
    evaluator->SetGlobal("unk_token", Value(input.unknown));
  }
  if (!input.padding.empty()) {
    evaluator->SetGlobal("pad_token", Value(input.padding));
  }
  EMBER_RETURN_IF_ERROR(SetJson("messages", input.messages, evaluator));
  EMBER_RETURN_IF_ERROR(SetJson("tools", input.tools, evaluator));
  EMBER_RETURN_IF_ERROR(SetJson("documents", input.documents, evaluator));
  if (input.extra.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const Value extra,
                         ParseJsonValue(input.extra, "extra"));
  if (!extra.is_dict()) {
    return InvalidArgumentError(
        Concat({"extra: expected a JSON object, found ", extra.TypeName()}));
  }
  for (const auto& [key, value] : extra.dict().entries()) {
    evaluator->SetGlobal(key.text(), value);
  }
  return OkStatus();
}

}  // namespace

ChatTemplate::ChatTemplate(Statements statements)
    : statements_(std::move(statements)) {}

StatusOr<ChatTemplate> ChatTemplate::Parse(std::string_view source) {
  StatusOr<Statements> statements = ParseTemplate(source);
  if (!statements.ok()) return statements.status().WithContext(kContext);
  return ChatTemplate(*std::move(statements));
}

StatusOr<std::string> ChatTemplate::Render(const ChatInput& input,
                                           const TemplateLimits& limits) const {
  Evaluator evaluator(limits);
  EMBER_RETURN_IF_ERROR(SetVariables(input, &evaluator));
  StatusOr<std::string> text = evaluator.Run(statements_);
  if (!text.ok()) return text.status().WithContext(kContext);
  return text;
}

}  // namespace ember::llm
