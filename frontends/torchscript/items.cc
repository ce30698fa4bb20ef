// Imports operators that take one item of a list, a dict or a text, and the
// helpers of items.h.
#include "frontends/torchscript/items.h"

#include <string>

#include "base/one_line.h"
#include "frontends/torchscript/known_extents.h"
#include "frontends/torchscript/known_when_importing.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

}  // namespace

std::optional<bool> AreEqual(Call& c, const Value& a, const Value& b,
                             int depth) {
  if (IsSame(a, b)) return true;
  if (depth > 16) return std::nullopt;
  if (a.is_number() && b.is_number()) {
    if (a.is_known_number() && b.is_known_number())
      return a.known_number() == b.known_number();
    if (a.is_dynamic() || b.is_dynamic()) return std::nullopt;
    if (IsNeverZero(c, a.dim - b.dim)) return false;
    return std::nullopt;
  }
  if (a.is_sequence() && a.kind == b.kind) {
    if (a.list->items.size() != b.list->items.size()) return false;
    if (!c.machine().Charge(a.list->items.size())) return std::nullopt;
    std::optional<bool> all = true;
    for (size_t i = 0; i < a.list->items.size(); ++i) {
      const std::optional<bool> one =
          AreEqual(c, a.list->items[i], b.list->items[i], depth + 1);
      if (one == false) return false;
      if (!one) all = std::nullopt;
    }
    return all;
  }
  if (a.is_tensor() || b.is_tensor()) return std::nullopt;
  return false;
}

std::optional<size_t> IndexIn(Call& c, const std::vector<Value>& items,
                              const Value& index) {
  if (!index.is_known_number() || index.is(Kind::kFloat)) {
    c.FailUnsupported(
        "expected an index of a list that is known when importing, found " +
        Describe(index) + kMakeItKnown);
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(items.size());
  int64_t at = index.dim.constant();
  if (at < -size || at >= size) {
    c.FailInvalid("expected an index in [" + std::to_string(-size) + ", " +
                  std::to_string(size - 1) + "], found " + std::to_string(at));
    return std::nullopt;
  }
  if (at < 0) at += size;
  return static_cast<size_t>(at);
}

std::optional<size_t> FindKey(const Dict& dict, const Value& key) {
  for (size_t i = 0; i < dict.items.size(); ++i)
    if (IsSame(dict.items[i].first, key)) return i;
  return std::nullopt;
}

void SetKey(Dict& dict, const Value& key, const Value& value) {
  const std::optional<size_t> at = FindKey(dict, key);
  if (at)
    dict.items[*at].second = value;
  else if (dict.items.size() < kMaxItems)
    dict.items.emplace_back(key, value);
}

List* ChangedList(Call& c) {
  const Value& self = c.value("self");
  if (!self.is(Kind::kList)) {
    c.FailInvalid("expected a list, found " + Describe(self));
    return nullptr;
  }
  if (!c.machine().MayChange(self.list->level, "list")) return nullptr;
  if (self.list->items.size() > kMaxItems) {
    c.FailUnsupported("expected lists of at most " + std::to_string(kMaxItems) +
                      " items");
    return nullptr;
  }
  return self.list;
}
Dict* ChangedDict(Call& c) {
  Dict* dict = c.value("self").dict;
  return c.machine().MayChange(dict->level, "dict") ? dict : nullptr;
}

namespace {

Value Length(Call& c) {
  const Value& a = c.value("a");
  if (a.is_tensor()) {
    const Tensor x = c.tensor("a");
    if (!c.CheckRank("a", x, 1)) return {};
    return Value::Int(x.dim(0));
  }
  size_t size = 0;
  if (a.is_sequence())
    size = a.list->items.size();
  else if (a.is(Kind::kDict))
    size = a.dict->items.size();
  else if (a.is(Kind::kString))
    size = a.text.size();
  else
    c.FailInvalid("expected something with a length, found " + Describe(a));
  return Value::Int(Dim(static_cast<int64_t>(size)));
}

Value GetItem(Call& c) {
  const Value& self = c.value("self");
  const Value& index = c.value("idx");
  if (self.is(Kind::kDict)) {
    const std::optional<size_t> at = FindKey(*self.dict, index);
    if (at) return self.dict->items[*at].second;
    const std::string key = OnOneLine(index.text);
    std::string message = "expected a key of the dict, found '" + key + "'";
    if (!self.dict->argument.empty()) {
      message += "; give --input=" + OnOneLine(self.dict->argument) + "_" +
                 key + "=...";
    }
    c.FailInvalid(message);
    return {};
  }
  if (self.is(Kind::kString)) {
    const std::vector<Value> indices(self.text.size());
    const std::optional<size_t> at = IndexIn(c, indices, index);
    return at ? Value::Text(Kind::kString, self.text.substr(*at, 1)) : Value();
  }
  if (!self.is_sequence()) {
    c.FailInvalid("expected a list to take an item of, found " +
                  Describe(self));
    return {};
  }
  const std::optional<size_t> at = IndexIn(c, self.list->items, index);
  return at ? self.list->items[*at] : Value();
}

Value SetItem(Call& c) {
  const Value& self = c.value("self");
  const Value& key = c.value("idx");
  const Value& value = c.value("v");
  if (self.is(Kind::kDict)) {
    if (!c.machine().MayChange(self.dict->level, "dict")) return {};
    SetKey(*self.dict, key, value);
    return Value::None();
  }
  List* list = ChangedList(c);
  if (list == nullptr) return {};
  const std::optional<size_t> at = IndexIn(c, list->items, key);
  if (at) list->items[*at] = value;
  return self;
}

Value Contains(Call& c) {
  const Value& self = c.value("l");
  const Value& item = c.value("item");
  if (self.is(Kind::kDict))
    return Value::Bool(FindKey(*self.dict, item).has_value());
  if (self.is(Kind::kString))
    return Value::Bool(self.text.find(item.text) != std::string::npos);
  if (!self.is_sequence()) {
    c.FailInvalid("expected something to look in, found " + Describe(self));
    return {};
  }
  Tensor any;
  for (const Value& one : self.list->items) {
    const std::optional<bool> equal = AreEqual(c, one, item, 0);
    if (equal == true) return Value::Bool(true);
    if (equal) continue;
    if (!one.is_number() || !item.is_number()) {
      c.FailUnsupported("expected a list of numbers or texts to look in");
      return {};
    }
    const Tensor same =
        ops::Equal(ops::Cast(c.machine().ToScalar(one), DType::kF64),
                   ops::Cast(c.machine().ToScalar(item), DType::kF64));
    any = any ? ops::Or(any, same) : same;
  }
  return any ? Value::Dynamic(Kind::kBool, any) : Value::Bool(false);
}

Value DeleteItem(Call& c) {
  const Value& self = c.value("self");
  if (self.is(Kind::kDict)) {
    CallRow(c, "aten::pop", {{"", self}, {"", c.value("key")}});
    return Value::None();
  }
  if (List* list = ChangedList(c)) {
    if (const std::optional<size_t> at =
            IndexIn(c, list->items, c.value("key")))
      list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(*at));
  }
  return Value::None();
}

constexpr OperatorRow kRows[] = {
    {"len(any a)", Length},
    {"__getitem__(any self, any idx)", GetItem},
    {"_set_item(any self, any idx, any v)", SetItem},
    {"__contains__(any l, any item)", Contains},
    {"Delete(any self, any key)", DeleteItem},
};

}  // namespace

std::span<const OperatorRow> ItemRows() { return kRows; }

}  // namespace ember::torchscript
