// Implements the filters on sequences and dicts.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "llm/template/evaluator.h"
#include "llm/template/filters.h"
#include "llm/text/unicode.h"

namespace ember::llm {
namespace {

using Result = StatusOr<Value>;
using Items = Value::Items;

// Returns object.a.b.c for the path "a.b.c"; a number in the path is an index.
// Undefined values on the way are replaced by `otherwise`, unless it is null.
Result Path(Evaluator& evaluator, const Value& object, const Value& path,
            const Value* otherwise) {
  const std::string text = path.ToText();
  Value value = object;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool is_index = !part.empty() && part.size() < 10 &&
                          std::all_of(
                              part.begin(), part.end(),
                              [](char c) { return c >= '0' && c <= '9'; });
    const Value key = is_index ? Value(int64_t{std::stoi(part)}) : Value(part);
    EMBER_ASSIGN_OR_RETURN(value, evaluator.Item(value, key));
    if (value.is_undefined() && otherwise != nullptr) value = *otherwise;
    begin = end + 1;
  }
  return value;
}

// Returns the key by which an item is compared: its attribute `attribute`, or
// the item itself if no attribute is given.
Result KeyOf(Evaluator& evaluator, const Value& item, const Value* attribute) {
  if (attribute == nullptr || attribute->is_none()) return item;
  return Path(evaluator, item, *attribute, nullptr);
}

// Returns a text in lower case unless `is_case_sensitive`, because filters
// ignore case by default. Other values stay as they are.
Value WithoutCase(const Value& value, bool is_case_sensitive) {
  if (is_case_sensitive || !value.is_text()) return value;
  return Value(Lowercase(value.text()));
}

bool IsCaseSensitive(const Arguments& arguments, size_t position) {
  const Value* const value = arguments.Find(position, "case_sensitive");
  return value != nullptr && value->IsTrue();
}

Result Length(Evaluator& evaluator, const Value& object, const Arguments&) {
  switch (object.kind()) {
    case Value::Kind::kUndefined:
      return Value(int64_t{0});
    case Value::Kind::kText:
      EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(object.text().size() / 64));
      return Value(static_cast<int64_t>(CharacterCount(object.text())));
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return Value(static_cast<int64_t>(object.items().size()));
    case Value::Kind::kDict:
      return Value(static_cast<int64_t>(object.dict().size()));
    default:
      return InvalidArgumentError(
          Concat({"length: expected a text, list or dict, found ",
                  object.TypeName()}));
  }
}

Result Default(Evaluator&, const Value& object, const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(
      arguments.Check("default", 2, {"default_value", "boolean"}));
  const Value* const also_false = arguments.Find(1, "boolean");
  const bool is_replaced =
      object.is_undefined() ||
      (also_false != nullptr && also_false->IsTrue() && !object.IsTrue());
  if (!is_replaced) return object;
  const Value* const otherwise = arguments.Find(0, "default_value");
  return otherwise != nullptr ? *otherwise : Value("");
}

Result First(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  return items.empty() ? Value::Undefined("an empty sequence has no first item")
                       : items.front();
}

Result Last(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  return items.empty() ? Value::Undefined("an empty sequence has no last item")
                       : items.back();
}

Result ToList(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(Items items, evaluator.ItemsOf(object));
  return evaluator.MakeList(std::move(items));
}

Result Reverse(Evaluator& evaluator, const Value& object, const Arguments&) {
  EMBER_ASSIGN_OR_RETURN(Items items, evaluator.ItemsOf(object));
  std::reverse(items.begin(), items.end());
  if (!object.is_text()) return evaluator.MakeList(std::move(items));
  std::string text;
  for (const Value& item : items) text += item.text();
  return evaluator.MakeText(std::move(text));
}

Result Join(Evaluator& evaluator, const Value& object,
            const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check("join", 2, {"d", "attribute"}));
  const Value* const separator = arguments.Find(0, "d");
  std::string between;
  if (separator != nullptr) {
    EMBER_ASSIGN_OR_RETURN(between, evaluator.TextOf(*separator));
  }
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        const Value item,
        KeyOf(evaluator, items[i], arguments.Find(1, "attribute")));
    if (i > 0) text += between;
    EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(between.size()));
    EMBER_ASSIGN_OR_RETURN(const std::string part, evaluator.TextOf(item));
    text += part;
  }
  return evaluator.MakeText(std::move(text));
}

Result ItemPairs(Evaluator& evaluator, const Value& object, const Arguments&) {
  Items pairs;
  if (object.is_undefined()) return Value::List({});
  if (!object.is_dict()) {
    return InvalidArgumentError(
        Concat({"items: expected a dict, found ", object.TypeName()}));
  }
  for (const auto& [key, value] : object.dict().entries()) {
    EMBER_ASSIGN_OR_RETURN(Value pair, evaluator.MakeTuple({key, value}));
    pairs.push_back(std::move(pair));
  }
  return evaluator.MakeList(std::move(pairs));
}

// Sorts pairs of a key and an item by their keys, stably. Error: the keys have
// no order.
Status SortByKey(Evaluator& evaluator, bool is_reversed,
                 std::vector<std::pair<Value, Value>>* items) {
  uint64_t weight = 0;
  for (const auto& [key, item] : *items) weight += 1 + key.Weight() / 16;
  uint64_t rounds = 1;
  while (uint64_t{1} << rounds < items->size()) ++rounds;
  EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(weight * rounds));
  // Each key is compared with the first one. That suffices: either all keys are
  // numbers or all are texts, and only then do they have an order.
  Status status;
  for (const auto& [key, item] : *items) {
    if (!key.is_number() && !key.is_text()) {
      return InvalidArgumentError(
          Concat({"sort: expected numbers or texts, found ", key.TypeName()}));
    }
    status = IsLess(items->front().first, key).status();
    if (!status.ok()) return status;
  }
  std::stable_sort(items->begin(), items->end(),
                   [is_reversed](const auto& a, const auto& b) {
                     const StatusOr<bool> is_less =
                         is_reversed ? IsLess(b.first, a.first)
                                     : IsLess(a.first, b.first);
                     return is_less.ok() && *is_less;
                   });
  return OkStatus();
}

Result Sort(Evaluator& evaluator, const Value& object,
            const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(
      arguments.Check("sort", 3, {"reverse", "case_sensitive", "attribute"}));
  const Value* const reverse = arguments.Find(0, "reverse");
  const bool is_case_sensitive = IsCaseSensitive(arguments, 1);
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items) {
    EMBER_ASSIGN_OR_RETURN(
        const Value key,
        KeyOf(evaluator, item, arguments.Find(2, "attribute")));
    keyed.emplace_back(WithoutCase(key, is_case_sensitive), item);
  }
  EMBER_RETURN_IF_ERROR(
      SortByKey(evaluator, reverse != nullptr && reverse->IsTrue(), &keyed));
  Items sorted;
  for (auto& [key, item] : keyed) sorted.push_back(std::move(item));
  return evaluator.MakeList(std::move(sorted));
}

Result SortDict(Evaluator& evaluator, const Value& object,
                const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(
      arguments.Check("dictsort", 3, {"case_sensitive", "by", "reverse"}));
  EMBER_ASSIGN_OR_RETURN(const Value pairs, ItemPairs(evaluator, object, {}));
  const Value* const by = arguments.Find(1, "by");
  const size_t index = by != nullptr && by->ToText() == "value" ? 1 : 0;
  const bool is_case_sensitive = IsCaseSensitive(arguments, 0);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& pair : pairs.items()) {
    keyed.emplace_back(WithoutCase(pair.items()[index], is_case_sensitive),
                       pair);
  }
  const Value* const reverse = arguments.Find(2, "reverse");
  EMBER_RETURN_IF_ERROR(
      SortByKey(evaluator, reverse != nullptr && reverse->IsTrue(), &keyed));
  Items sorted;
  for (auto& [key, item] : keyed) sorted.push_back(std::move(item));
  return evaluator.MakeList(std::move(sorted));
}

// Returns the smallest or the greatest item; an undefined value if there are no
// items.
Result Extreme(Evaluator& evaluator, const Value& object,
               const Arguments& arguments, bool is_greatest) {
  const bool is_case_sensitive = IsCaseSensitive(arguments, 0);
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  if (items.empty())
    return Value::Undefined("an empty sequence has no least or greatest item");
  Value best_key, best;
  for (size_t i = 0; i < items.size(); ++i) {
    EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(1));
    EMBER_ASSIGN_OR_RETURN(
        const Value found,
        KeyOf(evaluator, items[i], arguments.Find(1, "attribute")));
    const Value key = WithoutCase(found, is_case_sensitive);
    bool is_better = i == 0;
    if (i > 0) {
      EMBER_ASSIGN_OR_RETURN(is_better, is_greatest ? IsLess(best_key, key)
                                                    : IsLess(key, best_key));
    }
    if (!is_better) continue;
    best_key = key;
    best = items[i];
  }
  return best;
}

Result Minimum(Evaluator& evaluator, const Value& object,
               const Arguments& arguments) {
  return Extreme(evaluator, object, arguments, false);
}

Result Maximum(Evaluator& evaluator, const Value& object,
               const Arguments& arguments) {
  return Extreme(evaluator, object, arguments, true);
}

Result Total(Evaluator& evaluator, const Value& object,
             const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  const Value* const start = arguments.Find(1, "start");
  Value sum = start != nullptr ? *start : Value(int64_t{0});
  for (const Value& item : items) {
    EMBER_ASSIGN_OR_RETURN(
        const Value value,
        KeyOf(evaluator, item, arguments.Find(0, "attribute")));
    EMBER_ASSIGN_OR_RETURN(sum, Compute("+", sum, value, evaluator));
  }
  return sum;
}

Result Unique(Evaluator& evaluator, const Value& object,
              const Arguments& arguments) {
  const bool is_case_sensitive = IsCaseSensitive(arguments, 0);
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  Dict seen;
  Items unique;
  for (const Value& item : items) {
    EMBER_ASSIGN_OR_RETURN(
        const Value found,
        KeyOf(evaluator, item, arguments.Find(1, "attribute")));
    const Value key = WithoutCase(found, is_case_sensitive);
    EMBER_RETURN_IF_ERROR(
        evaluator.ChargeBytes(2 * sizeof(Value) + key.Weight()));
    if (seen.Find(key) != nullptr) continue;
    seen.Set(key, Value(true));
    unique.push_back(item);
  }
  return evaluator.MakeList(std::move(unique));
}

Result GroupBy(Evaluator& evaluator, const Value& object,
               const Arguments& arguments) {
  EMBER_RETURN_IF_ERROR(arguments.Check(
      "groupby", 3, {"attribute", "default", "case_sensitive"}));
  const bool is_case_sensitive = IsCaseSensitive(arguments, 2);
  const Value* const otherwise = arguments.Find(1, "default");
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items) {
    EMBER_ASSIGN_OR_RETURN(
        Value key, KeyOf(evaluator, item, arguments.Find(0, "attribute")));
    if (key.is_undefined() && otherwise != nullptr) key = *otherwise;
    keyed.emplace_back(WithoutCase(key, is_case_sensitive), item);
  }
  EMBER_RETURN_IF_ERROR(SortByKey(evaluator, false, &keyed));
  Items result;
  for (size_t begin = 0; begin < keyed.size();) {
    Items members;
    size_t end = begin;
    for (; end < keyed.size() && AreEqual(keyed[end].first, keyed[begin].first);
         ++end) {
      members.push_back(keyed[end].second);
    }
    EMBER_ASSIGN_OR_RETURN(
        const Value key,
        KeyOf(evaluator, members.front(), arguments.Find(0, "attribute")));
    EMBER_ASSIGN_OR_RETURN(Value list, evaluator.MakeList(std::move(members)));
    EMBER_ASSIGN_OR_RETURN(Value pair,
                           evaluator.MakeTuple({key, std::move(list)}));
    result.push_back(std::move(pair));
    begin = end;
  }
  return evaluator.MakeList(std::move(result));
}

Result Batch(Evaluator& evaluator, const Value& object,
             const Arguments& arguments) {
  const Value* const size = arguments.Find(0, "linecount");
  if (size == nullptr || !size->is_integer() || size->integer() < 1) {
    return InvalidArgumentError("batch: expected a positive number of items");
  }
  const Value* const fill = arguments.Find(1, "fill_with");
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  const auto step = static_cast<size_t>(size->integer());
  Items batches;
  for (size_t begin = 0; begin < items.size();) {
    const size_t count = std::min(step, items.size() - begin);
    Items batch(items.begin() + static_cast<ptrdiff_t>(begin),
                items.begin() + static_cast<ptrdiff_t>(begin + count));
    if (fill != nullptr && !fill->is_none() && count < step) {
      EMBER_RETURN_IF_ERROR(evaluator.ChargeBytes(
          std::min<uint64_t>(step, uint64_t{1} << 40) * sizeof(Value)));
      batch.resize(step, *fill);
    }
    EMBER_ASSIGN_OR_RETURN(Value list, evaluator.MakeList(std::move(batch)));
    batches.push_back(std::move(list));
    begin += count;
  }
  return evaluator.MakeList(std::move(batches));
}

Result AttributeOf(Evaluator& evaluator, const Value& object,
                   const Arguments& arguments) {
  const Value* const name = arguments.Find(0, "name");
  if (name == nullptr || !name->is_text()) {
    return InvalidArgumentError("attr: expected a name");
  }
  return evaluator.Attribute(object, name->text());
}

// Implements the filter map, in its forms map("filter", ...) and
// map(attribute="name").
Result Map(Evaluator& evaluator, const Value& object,
           const Arguments& arguments) {
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  const Value* attribute = nullptr;
  const Value* otherwise = nullptr;
  if (arguments.positional.empty()) {
    attribute = arguments.Find(0, "attribute");
    otherwise = arguments.Find(1, "default");
    if (attribute == nullptr) {
      return InvalidArgumentError("map: expected a filter or an attribute");
    }
  }
  Arguments rest = arguments;
  std::string filter;
  if (attribute == nullptr) {
    filter = rest.positional.front().ToText();
    rest.positional.erase(rest.positional.begin());
  }
  Items mapped;
  for (const Value& item : items) {
    Value value;
    if (attribute != nullptr) {
      EMBER_ASSIGN_OR_RETURN(value,
                             Path(evaluator, item, *attribute, otherwise));
    } else {
      EMBER_ASSIGN_OR_RETURN(value, evaluator.ApplyFilter(filter, item, rest));
    }
    mapped.push_back(std::move(value));
  }
  return evaluator.MakeList(std::move(mapped));
}

// Implements select, reject, selectattr and rejectattr: keeps the items that
// pass a test, or those that fail it. Without a test, an item passes if it is
// true.
template <bool kByAttribute, bool kKeeps>
Result Select(Evaluator& evaluator, const Value& object,
              const Arguments& arguments) {
  Arguments rest = arguments;
  const auto take = [&rest]() -> std::optional<Value> {
    if (rest.positional.empty()) return std::nullopt;
    Value first = rest.positional.front();
    rest.positional.erase(rest.positional.begin());
    return first;
  };
  const std::optional<Value> attribute = kByAttribute ? take() : std::nullopt;
  if (kByAttribute && !attribute) {
    return InvalidArgumentError(
        "selectattr: expected the name of an attribute");
  }
  const std::optional<Value> test = take();
  EMBER_ASSIGN_OR_RETURN(const Items items, evaluator.ItemsOf(object));
  Items kept;
  for (const Value& item : items) {
    EMBER_RETURN_IF_ERROR(evaluator.ChargeSteps(1));
    EMBER_ASSIGN_OR_RETURN(
        const Value value,
        KeyOf(evaluator, item, attribute ? &*attribute : nullptr));
    bool holds = value.IsTrue();
    if (test) {
      EMBER_ASSIGN_OR_RETURN(holds,
                             evaluator.ApplyTest(test->ToText(), value, rest));
    }
    if (holds == kKeeps) kept.push_back(item);
  }
  return evaluator.MakeList(std::move(kept));
}

}  // namespace

std::span<const FilterRow> SequenceFilters() {
  static constexpr FilterRow kRows[] = {
      {"attr", AttributeOf},
      {"batch", Batch},
      {"count", Length},
      {"d", Default},
      {"default", Default},
      {"dictsort", SortDict},
      {"first", First},
      {"groupby", GroupBy},
      {"items", ItemPairs},
      {"join", Join},
      {"last", Last},
      {"length", Length},
      {"list", ToList},
      {"map", Map},
      {"max", Maximum},
      {"min", Minimum},
      {"reject", Select<false, false>},
      {"rejectattr", Select<true, false>},
      {"reverse", Reverse},
      {"select", Select<false, true>},
      {"selectattr", Select<true, true>},
      {"sort", Sort},
      {"sum", Total},
      {"unique", Unique},
  };
  return kRows;
}

TemplateFilter FindFilter(std::string_view name) {
  for (const auto rows : {TextFilters(), SequenceFilters()}) {
    for (const FilterRow& row : rows) {
      if (row.name == name) return row.filter;
    }
  }
  return nullptr;
}

}  // namespace ember::llm
