// Imports operators on lists.
#include <algorithm>
#include <string>
#include <utility>

#include "frontends/torchscript/items.h"
#include "frontends/torchscript/known_when_importing.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

Value Append(Call& c) {
  List* list = ChangedList(c);
  if (list == nullptr) return {};
  list->items.push_back(c.value("el"));
  return c.value("self");
}
Value Extend(Call& c) {
  List* list = ChangedList(c);
  if (list == nullptr) return {};
  const std::vector<Value> more = c.value("other").list->items;
  if (!c.machine().Charge(more.size())) return {};
  list->items.insert(list->items.end(), more.begin(), more.end());
  return Value::None();
}
Value Insert(Call& c) {
  List* list = ChangedList(c);
  if (list == nullptr) return {};
  const auto size = static_cast<int64_t>(list->items.size());
  int64_t at = c.integer("idx");
  at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  list->items.insert(list->items.begin() + at, c.value("el"));
  return Value::None();
}
Value PopItem(Call& c) {
  List* list = ChangedList(c);
  if (list == nullptr) return {};
  const std::optional<size_t> at = IndexIn(c, list->items, c.value("idx"));
  if (!at) return {};
  Value item = list->items[*at];
  list->items.erase(list->items.begin() + static_cast<std::ptrdiff_t>(*at));
  return item;
}
Value ClearList(Call& c) {
  if (List* list = ChangedList(c)) list->items.clear();
  return Value::None();
}
Value ReverseList(Call& c) {
  if (List* list = ChangedList(c))
    std::reverse(list->items.begin(), list->items.end());
  return Value::None();
}
// The order by which lists are sorted: true if a is less than b. Both are
// texts, or known numbers.
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
  if (List* list = ChangedList(c)) SortItems(c, list->items);
  return Value::None();
}
Value SortedList(Call& c) {
  std::vector<Value> items = c.value("self").list->items;
  if (!SortItems(c, items)) return {};
  return c.machine().NewList(std::move(items));
}
// Returns the indices of the items of `self` that equal `value`.
std::vector<size_t> IndicesOf(Call& c, const Value& value) {
  std::vector<size_t> indices;
  const std::vector<Value>& items = c.value("self").list->items;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::optional<bool> equal = AreEqual(c, items[i], value, 0);
    if (!equal) {
      c.FailUnsupported(
          "expected items that are known when importing to compare, found " +
          Describe(items[i]) + kMakeItKnown);
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
  List* list = ChangedList(c);
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

// Imports sum for a list of numbers.
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
      c.FailUnsupported(
          std::string("expected numbers that are known when importing") +
          kMakeItKnown);
      return {};
    }
  }
  return total;
}

// Imports any (is_any) and all for a list of booleans that are known.
Value TruthOfList(Call& c, bool is_any) {
  for (const Value& item : c.value("self").list->items) {
    if (!item.is_known_number()) {
      c.FailUnsupported(
          std::string("expected booleans that are known when importing") +
          kMakeItKnown);
      return {};
    }
    if ((item.known_number() != 0) == is_any) return Value::Bool(is_any);
  }
  return Value::Bool(!is_any);
}
Value AnyOfList(Call& c) { return TruthOfList(c, true); }
Value AllOfList(Call& c) { return TruthOfList(c, false); }

constexpr OperatorRow kRows[] = {
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
    {"sum(t[] l)", SumOfList},
    {"any(t[] self)", AnyOfList},
    {"all(t[] self)", AllOfList},
};

}  // namespace

std::span<const OperatorRow> ListRows() { return kRows; }

}  // namespace ember::torchscript
