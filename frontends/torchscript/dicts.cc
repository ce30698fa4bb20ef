// Imports operators on dicts.
#include <utility>

#include "base/one_line.h"
#include "frontends/torchscript/items.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

Value Keys(Call& c) {
  std::vector<Value> keys;
  for (const auto& [key, value] : c.value("self").dict->items)
    keys.push_back(key);
  return c.machine().NewList(std::move(keys));
}
Value Values(Call& c) {
  std::vector<Value> values;
  for (const auto& [key, value] : c.value("self").dict->items)
    values.push_back(value);
  return c.machine().NewList(std::move(values));
}
Value Items(Call& c) {
  std::vector<Value> items;
  for (const auto& [key, value] : c.value("self").dict->items)
    items.push_back(c.machine().NewTuple({key, value}));
  return c.machine().NewList(std::move(items));
}
Value GetKey(Call& c) {
  const Dict& dict = *c.value("self").dict;
  const std::optional<size_t> at = FindKey(dict, c.value("key"));
  return at ? dict.items[*at].second : c.value("default_value");
}
Value NewDict(Call& c) { return c.machine().NewDict(); }

// Makes a dict of (key, value) pairs. Among equal keys the last one counts.
Value DictOfPairs(Call& c) {
  Value dict = c.machine().NewDict();
  for (const Value& pair : c.value("pairs").list->items) {
    if (!pair.is_sequence() || pair.list->items.size() != 2) {
      c.FailInvalid("expected pairs of a key and a value, found " +
                    Describe(pair));
      return {};
    }
    SetKey(*dict.dict, pair.list->items[0], pair.list->items[1]);
  }
  return dict;
}
Value CopyDict(Call& c) {
  Value dict = c.machine().NewDict();
  if (c.machine().Charge(c.value("self").dict->items.size()))
    dict.dict->items = c.value("self").dict->items;
  return dict;
}

Value UpdateDict(Call& c) {
  Dict* dict = ChangedDict(c);
  if (dict == nullptr) return {};
  const auto items = c.value("to_add").dict->items;
  for (const auto& [key, value] : items) SetKey(*dict, key, value);
  return Value::None();
}
Value SetDefault(Call& c) {
  Dict* dict = ChangedDict(c);
  if (dict == nullptr) return {};
  if (const std::optional<size_t> at = FindKey(*dict, c.value("key")))
    return dict->items[*at].second;
  SetKey(*dict, c.value("key"), c.value("default_value"));
  return c.value("default_value");
}

// Imports dict.pop: removes a key and returns its value; the default value if
// the dict does not have the key.
Value PopKey(Call& c) {
  Dict* dict = ChangedDict(c);
  if (dict == nullptr) return {};
  const std::optional<size_t> at = FindKey(*dict, c.value("key"));
  if (!at) return c.value("default_value");
  Value value = dict->items[*at].second;
  dict->items.erase(dict->items.begin() + static_cast<std::ptrdiff_t>(*at));
  return value;
}
Value PopKeyOrFail(Call& c) {
  Dict* dict = ChangedDict(c);
  if (dict == nullptr) return {};
  if (FindKey(*dict, c.value("key"))) {
    return CallRow(
        c, "aten::pop",
        {{"", c.value("self")}, {"", c.value("key")}, {"", Value::None()}});
  }
  c.FailInvalid("expected a key of the dict, found '" +
                OnOneLine(c.value("key").text) + "'");
  return {};
}
Value ClearDict(Call& c) {
  if (Dict* dict = ChangedDict(c)) dict->items.clear();
  return Value::None();
}

constexpr OperatorRow kRows[] = {
    {"keys(Dict self)", Keys},
    {"values(Dict self)", Values},
    {"items(Dict self)", Items},
    {"get(Dict self, any key, any default_value=None)", GetKey},
    {"dict()", NewDict},
    {"dict(t[] pairs)", DictOfPairs},
    {"dict(Dict self)", CopyDict},
    {"copy(Dict self)", CopyDict},
    {"update(Dict self, Dict to_add)", UpdateDict},
    {"setdefault(Dict self, any key, any default_value)", SetDefault},
    {"pop(Dict self, any key, any default_value)", PopKey},
    {"pop(Dict self, any key)", PopKeyOrFail},
    {"clear(Dict self)", ClearDict},
};

}  // namespace

std::span<const OperatorRow> DictRows() { return kRows; }

}  // namespace ember::torchscript
