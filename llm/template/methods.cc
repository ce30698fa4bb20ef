#include "llm/template/methods.h"

#include <string>
#include <utility>

#include "base/concat.h"
#include "llm/template/evaluator.h"

namespace ember::llm {
namespace {

using Result = StatusOr<Value>;
using Items = Value::Items;
using Method = Result (*)(Evaluator& evaluator, const Value& object,
                          const Arguments& arguments);

struct Row {
  std::string_view name;
  Method method;
};

Result Get(Evaluator&, const Value& object, const Arguments& arguments) {
  const Value* const key = arguments.Find(0, "key");
  if (key == nullptr) return InvalidArgumentError("get: expected a key");
  if (const Value* const value = object.dict().Find(*key)) return *value;
  const Value* const otherwise = arguments.Find(1, "default");
  return otherwise != nullptr ? *otherwise : Value();
}

Result Keys(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(Items keys, evaluator.ItemsOf(object));
  return evaluator.MakeList(std::move(keys));
}

Result Values(Evaluator& evaluator, const Value& object, const Arguments&) {
  Items values;
  for (const auto& entry : object.dict().entries()) {
    values.push_back(entry.second);
  }
  return evaluator.MakeList(std::move(values));
}

Result Pairs(Evaluator& evaluator, const Value& object, const Arguments&) {
  return evaluator.ApplyFilter("items", object, {});
}

Result Copy(Evaluator&, const Value& object, const Arguments&) {
  return object;
}

// Returns the index of the first item that equals `wanted`, or -1.
StatusOr<int64_t> FindItem(Evaluator& evaluator, const Value& object,
                           const Arguments& arguments, int64_t* count) {
  const Value* const wanted = arguments.Find(0, "value");
  if (wanted == nullptr) {
    return InvalidArgumentError("expected a value to search");
  }
  int64_t first = -1;
  const Items& items = object.items();
  for (size_t i = 0; i < items.size(); ++i) {
    EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(1));
    EMBER_ASSIGN_OR_RETURN(const bool is_equal,
                           evaluator.Equals(items[i], *wanted));
    if (!is_equal) continue;
    if (first < 0) first = static_cast<int64_t>(i);
    ++*count;
  }
  return first;
}

Result Index(Evaluator& evaluator, const Value& object,
             const Arguments& arguments) {
  int64_t count = 0;
  EMBER_ASSIGN_OR_RETURN(const int64_t index,
                         FindItem(evaluator, object, arguments, &count));
  if (index < 0) {
    return InvalidArgumentError("index: expected an item of the list");
  }
  return Value(index);
}

Result Count(Evaluator& evaluator, const Value& object,
             const Arguments& arguments) {
  int64_t count = 0;
  EMBER_RETURN_IF_ERROR(
      FindItem(evaluator, object, arguments, &count).status());
  return Value(count);
}

// Methods that would change a list or dict exist by name only: calling one
// gives an error that explains that values are constant.
Result Refuse(Evaluator&, const Value& object, const Arguments&) {
  return InvalidArgumentError(
      Concat({"expected no change of a ", object.TypeName(),
              ", whose values are constant; found a call that changes it"}));
}

template <size_t kCount>
Method Find(const Row (&rows)[kCount], std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row.method;
  }
  return nullptr;
}

Method FindDictMethod(std::string_view name) {
  static constexpr Row kRows[] = {
      {"clear", Refuse},  {"copy", Copy},         {"get", Get},
      {"items", Pairs},   {"keys", Keys},         {"pop", Refuse},
      {"update", Refuse}, {"setdefault", Refuse}, {"values", Values},
  };
  return Find(kRows, name);
}

Method FindListMethod(std::string_view name) {
  static constexpr Row kRows[] = {
      {"append", Refuse}, {"clear", Refuse},   {"copy", Copy},
      {"count", Count},   {"extend", Refuse},  {"index", Index},
      {"insert", Refuse}, {"pop", Refuse},     {"remove", Refuse},
      {"sort", Refuse},   {"reverse", Refuse},
  };
  return Find(kRows, name);
}

}  // namespace

std::optional<Value> FindMethod(const Value& object, std::string_view name) {
  if (object.is_text()) {
    const TextMethod method = FindTextMethod(name);
    if (method == nullptr) return std::nullopt;
    return Value::OfFunction(
        [object, method](Evaluator& evaluator, const Arguments& arguments) {
          return method(evaluator, object.text(), arguments);
        },
        object.depth());
  }
  Method method = nullptr;
  if (object.is_dict()) method = FindDictMethod(name);
  if (object.is_sequence()) method = FindListMethod(name);
  if (method == nullptr) return std::nullopt;
  return Value::OfFunction(
      [object, method](Evaluator& evaluator, const Arguments& arguments) {
        return method(evaluator, object, arguments);
      },
      object.depth());
}

}  // namespace ember::llm
