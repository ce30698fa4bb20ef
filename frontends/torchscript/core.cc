// Imports operators on values that are no tensors (lists, dicts, texts), and
// queries about tensors.
#include <algorithm>

#include "base/one_line.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

constexpr size_t kMaxItems = 1'000'000;

// Compares values like torch: numbers by value, texts, lists item by item.
// nullopt if the result is only known at run time.
std::optional<bool> AreEqual(Call& c, const Value& a, const Value& b,
                             int depth) {
  if (IsSame(a, b)) return true;
  if (depth > 16) return std::nullopt;
  if (a.is_number() && b.is_number()) {
    if (a.is_known_number() && b.is_known_number())
      return a.known_number() == b.known_number();
    if (a.is_dynamic() || b.is_dynamic()) return std::nullopt;
    const ops::DimRange range = ops::RangeOf(a.dim - b.dim);
    if (range.low > 0 || range.high < 0) return false;
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

// Returns a boolean that is computed at run time: true if all numbers of two
// lists are equal.
Value EqualByRun(Call& c, const Value& a, const Value& b) {
  if (!a.is_sequence() || !b.is_sequence()) {
    c.FailUnsupported("expected numbers or lists of them to compare, found " +
                      Describe(a) + " and " + Describe(b));
    return {};
  }
  Tensor all;
  for (size_t i = 0; i < a.list->items.size(); ++i) {
    const Value& x = a.list->items[i];
    const Value& y = b.list->items[i];
    if (!x.is_number() || !y.is_number()) {
      c.FailUnsupported("expected lists of numbers to compare, found " +
                        Describe(x) + " and " + Describe(y));
      return {};
    }
    const Tensor one =
        ops::Equal(ops::Cast(c.machine().ToScalar(x), DType::kF64),
                   ops::Cast(c.machine().ToScalar(y), DType::kF64));
    all = all ? ops::And(all, one) : one;
  }
  return Value::Dynamic(Kind::kBool, all);
}

Value EqualValues(Call& c) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  const std::optional<bool> known = AreEqual(c, a, b, 0);
  return known ? Value::Bool(*known) : EqualByRun(c, a, b);
}
Value UnequalValues(Call& c) {
  Value equal = EqualValues(c);
  if (!equal.is_dynamic()) return Value::Bool(equal.dim == Dim(0));
  if (!c.ok()) return {};
  return Value::Dynamic(Kind::kBool, ops::Not(equal.dynamic));
}

Value IsNone(Call& c) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  return Value::Bool(a.is_none() || b.is_none() ? a.is_none() && b.is_none()
                                                : IsSame(a, b));
}
Value IsNotNone(Call& c) { return Value::Bool(IsNone(c).dim == Dim(0)); }

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

Value SizeOf(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<Value> sizes;
  for (const Dim& dim : x.shape()) sizes.push_back(Value::Int(dim));
  return c.machine().NewList(std::move(sizes));
}
Value SizeOfDim(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  return Value::Int(x.dim(c.axis("dim", x.rank())));
}
Value RankOf(Call& c) { return Value::Int(Dim(c.tensor("self").rank())); }
Value CountOf(Call& c) {
  return Value::Int(graph::ElementCount(c.tensor("self").shape()));
}
Value DTypeOf(Call& c) {
  if (c.value("self").is_quantized()) {
    const DType type = c.tensor("self").dtype();
    return Value::Int(Dim(type == DType::kI8   ? 12
                          : type == DType::kU8 ? 13
                                               : 14));
  }
  const DType dtype = c.machine().Read(*c.value("self").cell).dtype();
  if (c.value("self").is_complex())
    return Value::Int(Dim(dtype == DType::kF64 ? 10 : 9));
  return Value::Int(Dim(ScalarTypeOf(dtype)));
}
Value IsComplex(Call& c) { return Value::Bool(c.value("self").is_complex()); }
Value DeviceOf(Call&) { return Value::Text(Kind::kDevice, "cpu"); }
Value False(Call&) { return Value::Bool(false); }
Value True(Call&) { return Value::Bool(true); }
Value Nothing(Call&) { return Value::None(); }
Value Zero(Call&) { return Value::Int(Dim(0)); }
Value IsFloatingPoint(Call& c) {
  return Value::Bool(c.tensor("self").is_float());
}
Value IsSigned(Call& c) {
  return Value::Bool(ember::IsSigned(c.tensor("self").dtype()) ||
                     c.tensor("self").is_float());
}
Value Same(Call& c) { return c.value("a"); }

// Lists.
std::optional<size_t> IndexIn(Call& c, const std::vector<Value>& items,
                              const Value& index) {
  if (!index.is_known_number() || index.is(Kind::kFloat)) {
    c.FailUnsupported(
        "expected an index of a list that is known when importing, found " +
        Describe(index));
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

Value GetItem(Call& c) {
  const Value& self = c.value("self");
  const Value& index = c.value("idx");
  if (self.is(Kind::kDict)) {
    const std::optional<size_t> at = FindKey(*self.dict, index);
    if (at) return self.dict->items[*at].second;
    c.FailInvalid("expected a key of the dict, found '" +
                  OnOneLine(index.text) + "'");
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

// Returns the list that an operator changes; null, with an error, if it must
// not be changed here.
List* Changed(Call& c) {
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
Value Append(Call& c) {
  List* list = Changed(c);
  if (list == nullptr) return {};
  list->items.push_back(c.value("el"));
  return c.value("self");
}
Value Extend(Call& c) {
  List* list = Changed(c);
  if (list == nullptr) return {};
  const std::vector<Value> more = c.value("other").list->items;
  if (!c.machine().Charge(more.size())) return {};
  list->items.insert(list->items.end(), more.begin(), more.end());
  return Value::None();
}
Value Insert(Call& c) {
  List* list = Changed(c);
  if (list == nullptr) return {};
  const auto size = static_cast<int64_t>(list->items.size());
  int64_t at = c.integer("idx");
  at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  list->items.insert(list->items.begin() + at, c.value("el"));
  return Value::None();
}
Value PopItem(Call& c) {
  List* list = Changed(c);
  if (list == nullptr) return {};
  const std::optional<size_t> at = IndexIn(c, list->items, c.value("idx"));
  if (!at) return {};
  Value item = list->items[*at];
  list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(*at));
  return item;
}
Value ClearList(Call& c) {
  if (List* list = Changed(c)) list->items.clear();
  return Value::None();
}
Value ReverseList(Call& c) {
  if (List* list = Changed(c))
    std::reverse(list->items.begin(), list->items.end());
  return Value::None();
}
Value SetItem(Call& c) {
  const Value& self = c.value("self");
  const Value& key = c.value("idx");
  const Value& value = c.value("v");
  if (self.is(Kind::kDict)) {
    if (!c.machine().MayChange(self.dict->level, "dict")) return {};
    const std::optional<size_t> at = FindKey(*self.dict, key);
    if (at)
      self.dict->items[*at].second = value;
    else if (self.dict->items.size() < kMaxItems)
      self.dict->items.emplace_back(key, value);
    return Value::None();
  }
  List* list = Changed(c);
  if (list == nullptr) return {};
  const std::optional<size_t> at = IndexIn(c, list->items, key);
  if (at) list->items[*at] = value;
  return self;
}
// True if a is less than b, for texts or known numbers.
bool IsBefore(const Value& a, const Value& b) {
  if (a.is(Kind::kString)) return a.text < b.text;
  return a.known_number() < b.known_number();
}
bool SortItems(Call& c, std::vector<Value>& items) {
  const bool are_texts = !items.empty() && items[0].is(Kind::kString);
  for (const Value& item : items) {
    if (are_texts ? item.is(Kind::kString) : item.is_known_number()) continue;
    c.FailUnsupported(
        "expected a list of texts, or of numbers that are known when "
        "importing, to sort, found " +
        Describe(item));
    return false;
  }
  const bool reverse = c.flag("reverse");
  std::stable_sort(items.begin(), items.end(),
                   [&](const Value& a, const Value& b) {
                     return reverse ? IsBefore(b, a) : IsBefore(a, b);
                   });
  return c.ok();
}
Value SortList(Call& c) {
  if (List* list = Changed(c)) SortItems(c, list->items);
  return Value::None();
}
Value SortedList(Call& c) {
  std::vector<Value> items = c.value("self").list->items;
  if (!SortItems(c, items)) return {};
  return c.machine().NewList(std::move(items));
}
// Returns the indices of the items that equal a value.
std::vector<size_t> IndicesOf(Call& c, const Value& value) {
  std::vector<size_t> indices;
  const std::vector<Value>& items = c.value("self").list->items;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::optional<bool> equal = AreEqual(c, items[i], value, 0);
    if (!equal) {
      c.FailUnsupported(
          "expected items that are known when importing to compare, found " +
          Describe(items[i]));
      return {};
    }
    if (*equal) indices.push_back(i);
  }
  return indices;
}
Value CountItems(Call& c) {
  const size_t count = IndicesOf(c, c.value("el")).size();
  return Value::Int(Dim(static_cast<int64_t>(count)));
}
std::optional<size_t> FirstIndex(Call& c) {
  const std::vector<size_t> indices = IndicesOf(c, c.value("el"));
  if (!indices.empty()) return indices[0];
  if (c.ok()) c.FailInvalid("expected a list with this item, found none");
  return std::nullopt;
}
Value IndexOfItem(Call& c) {
  const std::optional<size_t> index = FirstIndex(c);
  return index ? Value::Int(Dim(static_cast<int64_t>(*index))) : Value();
}
Value RemoveItem(Call& c) {
  List* list = Changed(c);
  if (list == nullptr) return {};
  if (const std::optional<size_t> index = FirstIndex(c))
    list->items.erase(list->items.begin() +
                      static_cast<std::ptrdiff_t>(*index));
  return Value::None();
}
Value CopyList(Call& c) {
  const Value& a = c.value("l");
  if (a.is(Kind::kString)) {
    std::vector<Value> letters;
    for (const char letter : a.text)
      letters.push_back(Value::Text(Kind::kString, std::string(1, letter)));
    return c.machine().NewList(std::move(letters));
  }
  return c.machine().NewList(a.list->items);
}
Value Concatenate(Call& c) {
  std::vector<Value> items = c.value("a").list->items;
  const std::vector<Value>& more = c.value("b").list->items;
  if (items.size() + more.size() > kMaxItems) {
    c.FailUnsupported("expected lists of at most " + std::to_string(kMaxItems) +
                      " items");
    return {};
  }
  items.insert(items.end(), more.begin(), more.end());
  return c.value("a").is(Kind::kTuple) ? c.machine().NewTuple(std::move(items))
                                       : c.machine().NewList(std::move(items));
}
Value RepeatList(Call& c) {
  const std::vector<Value>& items = c.value("l").list->items;
  const int64_t times = c.integer("n");
  if (times > 0 && items.size() > kMaxItems / static_cast<size_t>(times)) {
    c.FailUnsupported("expected lists of at most " + std::to_string(kMaxItems) +
                      " items");
    return {};
  }
  std::vector<Value> repeated;
  for (int64_t i = 0; i < times; ++i)
    repeated.insert(repeated.end(), items.begin(), items.end());
  return c.machine().NewList(std::move(repeated));
}
Value SliceList(Call& c) {
  const std::vector<Value>& items = c.value("l").list->items;
  const auto size = static_cast<int64_t>(items.size());
  const int64_t step = c.integer("step");
  if (!c.ok()) return {};
  if (step == 0) {
    c.FailInvalid("step: expected a number other than 0");
    return {};
  }
  const auto index = [&](std::string_view name, int64_t otherwise) {
    if (!c.has(name)) return otherwise;
    int64_t at = c.integer(name);
    if (at < 0) at += size;
    return step > 0 ? std::clamp<int64_t>(at, 0, size)
                    : std::clamp<int64_t>(at, -1, size - 1);
  };
  const int64_t start = index("start", step > 0 ? 0 : size - 1);
  const int64_t end = index("end", step > 0 ? size : -1);
  std::vector<Value> part;
  for (int64_t i = start; step > 0 ? i < end : i > end;) {
    part.push_back(items[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return c.value("l").is(Kind::kTuple) ? c.machine().NewTuple(std::move(part))
                                       : c.machine().NewList(std::move(part));
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

// Returns the sum of a list of numbers.
Value SumOfList(Call& c) {
  Value total = Value::Int(Dim(0));
  for (const Value& item : c.value("l").list->items) {
    const bool are_ints = item.is(Kind::kInt) && total.is(Kind::kInt) &&
                          !item.is_dynamic() && !total.is_dynamic();
    if (are_ints) {
      total.dim = total.dim + item.dim;
    } else if (item.is_known_number() && total.is_known_number()) {
      total = Value::Float(total.known_number() + item.known_number());
    } else {
      c.FailUnsupported("expected numbers that are known when importing");
      return {};
    }
  }
  return total;
}

// Returns true if any item of a list is true or, without `is_any`, if all are.
Value TruthOfList(Call& c, bool is_any) {
  for (const Value& item : c.value("self").list->items) {
    if (!item.is_known_number()) {
      c.FailUnsupported("expected booleans that are known when importing");
      return {};
    }
    if ((item.known_number() != 0) == is_any) return Value::Bool(is_any);
  }
  return Value::Bool(!is_any);
}
Value AnyOfList(Call& c) { return TruthOfList(c, true); }
Value AllOfList(Call& c) { return TruthOfList(c, false); }

// Dicts.
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
void SetKey(Dict& dict, const Value& key, const Value& value) {
  const std::optional<size_t> at = FindKey(dict, key);
  if (at)
    dict.items[*at].second = value;
  else if (dict.items.size() < kMaxItems)
    dict.items.emplace_back(key, value);
}
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
// Returns the dict that an operator changes; null, with an error, if it must
// not be changed here.
Dict* ChangedDict(Call& c) {
  Dict* dict = c.value("self").dict;
  return c.machine().MayChange(dict->level, "dict") ? dict : nullptr;
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
// Removes a key and returns its value, or the default value if the dict does
// not have the key.
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
Value DeleteItem(Call& c) {
  const Value& self = c.value("self");
  if (self.is(Kind::kDict)) {
    CallRow(c, "aten::pop", {{"", self}, {"", c.value("key")}});
    return Value::None();
  }
  if (List* list = Changed(c)) {
    if (const std::optional<size_t> at =
            IndexIn(c, list->items, c.value("key")))
      list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(*at));
  }
  return Value::None();
}
Value ClearDict(Call& c) {
  if (Dict* dict = ChangedDict(c)) dict->items.clear();
  return Value::None();
}

// Texts.
std::string TextOf(const Value& value, int depth) {
  if (value.is(Kind::kString)) return value.text;
  if (value.is(Kind::kBool) && value.is_known_number())
    return value.known_number() != 0 ? "True" : "False";
  if (value.is(Kind::kInt) && !value.is_dynamic()) return value.dim.ToString();
  if (value.is(Kind::kFloat) && !value.is_dynamic())
    return std::to_string(value.number);
  if (value.is_sequence() && depth < 4) {
    const bool is_tuple = value.is(Kind::kTuple);
    std::string text;
    for (const Value& item : value.list->items) {
      text += (text.empty() ? "" : ", ") + TextOf(item, depth + 1);
      if (text.size() > 1000) break;
    }
    return (is_tuple ? "(" : "[") + text + (is_tuple ? ")" : "]");
  }
  return Describe(value);
}
bool CheckLength(Call& c, size_t size) {
  if (size <= 65536) return true;
  c.FailUnsupported("expected texts of at most 65536 bytes");
  return false;
}
// Imports format, which replaces each {} in a text by one of the following
// arguments.
Value Format(Call& c) {
  std::string text = c.text("self");
  for (const std::string_view name : {"a", "b", "c", "d", "e", "f"}) {
    const size_t at = text.find("{}");
    if (at == std::string::npos) break;
    const std::string part = TextOf(c.value(name), 0);
    if (!CheckLength(c, text.size() + part.size())) return {};
    text.replace(at, 2, part);
  }
  return Value::Text(Kind::kString, text);
}
Value ToText(Call& c) {
  return Value::Text(Kind::kString, TextOf(c.value("a"), 0));
}
Value AddText(Call& c) {
  const std::string a = c.text("a");
  const std::string b = c.text("b");
  if (!CheckLength(c, a.size() + b.size())) return {};
  return Value::Text(Kind::kString, a + b);
}

Value StartsWith(Call& c) {
  return Value::Bool(c.text("self").starts_with(c.text("prefix")));
}
Value EndsWith(Call& c) {
  return Value::Bool(c.text("self").ends_with(c.text("suffix")));
}
// Returns the index at which a text first occurs in a part of another text; -1
// if it does not occur.
Value FindText(Call& c) {
  const std::string text = c.text("self");
  const auto size = static_cast<int64_t>(text.size());
  const auto index = [&](std::string_view name) {
    const int64_t at = c.integer(name);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t start = index("start");
  // An `end` of -1 means that no end is given.
  const int64_t end = c.integer("end") == -1 ? size : index("end");
  const std::string part =
      text.substr(static_cast<size_t>(start),
                  static_cast<size_t>(std::max<int64_t>(end - start, 0)));
  const size_t at = part.find(c.text("substr"));
  return Value::Int(
      Dim(at == std::string::npos ? -1 : static_cast<int64_t>(at) + start));
}
// Returns the shape that two shapes broadcast to.
Value InferSize(Call& c) {
  const StatusOr<Shape> shape =
      graph::BroadcastShapes(c.dims("a"), c.dims("b"));
  if (!shape.ok()) {
    c.FailInvalid(std::string(shape.status().message()));
    return {};
  }
  std::vector<Value> sizes;
  for (const Dim& dim : *shape) sizes.push_back(Value::Int(dim));
  return c.machine().NewList(std::move(sizes));
}
Value InCase(Call& c, char from, char to, int distance) {
  std::string text = c.text("self");
  for (char& letter : text)
    if (letter >= from && letter <= to)
      letter = static_cast<char>(letter + distance);
  return Value::Text(Kind::kString, text);
}
Value LowerCase(Call& c) { return InCase(c, 'A', 'Z', 'a' - 'A'); }
Value UpperCase(Call& c) { return InCase(c, 'a', 'z', 'A' - 'a'); }
Value Strip(Call& c) {
  const std::string text = c.text("self");
  const size_t start = text.find_first_not_of(" \t\n\r\f\v");
  if (start == std::string::npos) return Value::Text(Kind::kString, "");
  const size_t end = text.find_last_not_of(" \t\n\r\f\v");
  return Value::Text(Kind::kString, text.substr(start, end - start + 1));
}
std::vector<std::string> PartsOf(Call& c, const std::string& text,
                                 const std::string& separator) {
  std::vector<std::string> parts;
  if (separator.empty()) {
    c.FailInvalid("expected a text to look for that is not empty");
    return parts;
  }
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + separator.size();
  }
}
Value SplitText(Call& c) {
  std::vector<Value> parts;
  for (const std::string& part :
       PartsOf(c, c.text("self"), c.text("separator")))
    parts.push_back(Value::Text(Kind::kString, part));
  return c.machine().NewList(std::move(parts));
}
Value ReplaceText(Call& c) {
  std::string text;
  const std::string fresh = c.text("new");
  bool is_first = true;
  for (const std::string& part : PartsOf(c, c.text("self"), c.text("old"))) {
    if (!CheckLength(c, text.size() + fresh.size() + part.size())) return {};
    text += (is_first ? "" : fresh) + part;
    is_first = false;
  }
  return Value::Text(Kind::kString, text);
}
Value JoinTexts(Call& c) {
  std::string text;
  bool is_first = true;
  for (const Value& item : c.value("values").list->items) {
    if (!CheckLength(c, text.size() + item.text.size() + 1)) return {};
    text += (is_first ? "" : c.text("self")) + item.text;
    is_first = false;
  }
  return Value::Text(Kind::kString, text);
}

// Returns the number of iterations of "for i in range(lo, hi, step)".
Value RangeLength(Call& c) {
  const Dim low = c.dim("lo");
  const Dim high = c.dim("hi");
  const int64_t step = c.integer("step");
  if (!c.ok()) return {};
  if (step == 0) {
    c.FailInvalid("step: expected a number other than 0");
    return {};
  }
  const Dim distance = step > 0 ? high - low : low - high;
  const Dim width(step > 0 ? step : -step);
  return Value::Int(
      LargerOf(FloorDivide(distance + width - Dim(1), width), Dim(0)));
}
Value DeriveIndex(Call& c) {
  const Value& index = c.value("index");
  const Value& start = c.value("start");
  const Value& step = c.value("step");
  if (!index.is_dynamic() && !start.is_dynamic() && !step.is_dynamic())
    return Value::Int(start.dim + index.dim * step.dim);
  Machine& machine = c.machine();
  return Value::Dynamic(Kind::kInt,
                        machine.ToScalar(start) +
                            machine.ToScalar(index) * machine.ToScalar(step));
}

Value IsInstance(Call& c) {
  const Value& value = c.value("a");
  const std::string type = c.text("type");
  const auto is = [&](std::string_view name, Kind kind) {
    return value.is(kind) && type.find(name) != std::string::npos;
  };
  return Value::Bool(is("Tensor", Kind::kTensor) || is("int", Kind::kInt) ||
                     is("float", Kind::kFloat) || is("bool", Kind::kBool) ||
                     is("str", Kind::kString) || is("List", Kind::kList) ||
                     is("Tuple", Kind::kTuple) || is("Dict", Kind::kDict) ||
                     is("NoneType", Kind::kNone));
}

constexpr OperatorRow kRows[] = {
    {"len(any a)", Length},
    {"size(Tensor self)", SizeOf},
    {"size(Tensor self, int dim)", SizeOfDim},
    {"prim::shape(Tensor self)", SizeOf},
    {"dim(Tensor self)", RankOf},
    {"prim::ndim(Tensor self)", RankOf},
    {"numel(Tensor self)", CountOf},
    {"prim::dtype(any self)", DTypeOf},
    {"prim::device(Tensor self)", DeviceOf},
    {"prim::layout(Tensor self)", Zero},
    {"get_device(Tensor self)", Zero},
    {"prim::is_cuda(Tensor self)", False},
    {"prim::is_cpu(Tensor self)", True},
    {"prim::is_mps(Tensor self)", False},
    {"prim::is_xla(Tensor self)", False},
    {"prim::is_vulkan(Tensor self)", False},
    {"prim::is_meta(Tensor self)", False},
    {"prim::is_sparse(Tensor self)", False},
    {"prim::requires_grad(Tensor self)", False},
    {"prim::type(any a)", Same},
    {"is_floating_point(Tensor self)", IsFloatingPoint},
    {"is_complex(any self)", IsComplex},
    {"is_signed(Tensor self)", IsSigned},
    {"is_pinned(Tensor self, Device? device=None)", False},
    {"is_grad_enabled()", False},
    {"is_autocast_enabled()", False},
    {"is_scripting()", True},
    {"cuda_is_available()", False},
    {"set_grad_enabled(any val)", Nothing},
    {"manual_seed(any seed)", Nothing},
    {"prim::unchecked_unwrap_optional(any a)", Same},
    {"_unwrap_optional(any a)", Same},
    {"prim::unchecked_cast(any a)", Same},
    // A forked function has already run when the code waits for its result, so
    // wait returns its operand.
    {"wait(any a)", Same},
    {"prim::isinstance(any a, str type)", IsInstance},
    {"prim::Print(any a=None, any b=None, any c=None, any d=None)", Nothing},
    {"warn(any message, int stacklevel=2)", Nothing},
    {"__is__(any a, any b)", IsNone},
    {"__isnot__(any a, any b)", IsNotNone},
    {"eq(Value a, Value b)", EqualValues},
    {"ne(Value a, Value b)", UnequalValues},
    {"__getitem__(any self, any idx)", GetItem},
    {"_set_item(any self, any idx, any v)", SetItem},
    {"append(any self, any el)", Append},
    {"extend(any self, t[] other)", Extend},
    {"insert(any self, int idx, any el)", Insert},
    {"pop(t[] self, int idx=-1)", PopItem},
    {"clear(t[] self)", ClearList},
    {"reverse(t[] self)", ReverseList},
    {"sort(t[] self, bool reverse=False)", SortList},
    {"sorted(t[] self, bool reverse=False)", SortedList},
    {"count(t[] self, any el)", CountItems},
    {"index(t[] self, any el)", IndexOfItem},
    {"remove(t[] self, any el)", RemoveItem},
    {"list(t[] l)", CopyList},
    {"list(str l)", CopyList},
    {"copy(t[] l)", CopyList},
    {"add(t[] a, t[] b)", Concatenate},
    {"add_(t[] self, t[] other)", Extend},
    {"mul(t[] l, int n)", RepeatList},
    {"slice(t[] l, int? start=None, int? end=None, int step=1)", SliceList},
    {"__contains__(any l, any item)", Contains},
    {"sum(t[] l)", SumOfList},
    {"any(t[] self)", AnyOfList},
    {"all(t[] self)", AllOfList},
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
    {"Delete(any self, any key)", DeleteItem},
    {"startswith(str self, str prefix)", StartsWith},
    {"endswith(str self, str suffix)", EndsWith},
    {"find(str self, str substr, int start=0, int end=-1)", FindText},
    {"_infer_size(int[] a, int[] b)", InferSize},
    {"lower(str self)", LowerCase},
    {"upper(str self)", UpperCase},
    {"strip(str self)", Strip},
    {"replace(str self, str old, str new)", ReplaceText},
    {"split(str self, str separator)", SplitText},
    {"join(str self, t[] values)", JoinTexts},
    {"format(str self, any a=None, any b=None, any c=None, any d=None, "
     "any e=None, any f=None)",
     Format},
    {"str(any a)", ToText},
    {"add(str a, str b)", AddText},
    {"__range_length(int lo, int hi, int step)", RangeLength},
    {"__derive_index(int index, int start, int step)", DeriveIndex},
};

}  // namespace

std::span<const OperatorRow> CoreRows() { return kRows; }

}  // namespace ember::torchscript
