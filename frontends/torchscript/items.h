// Helpers of the operators on lists and dicts: comparing items, finding indices
// and keys, and checking that a list or dict may be changed here.
//
//   List* list = ChangedList(c);
//   if (list == nullptr) return {};
//   const std::optional<size_t> at = IndexIn(c, list->items, c.value("idx"));
//
// After an error the functions return null or nothing, and the call has failed
// (Call::FailInvalid, Call::FailUnsupported). They own nothing. Not
// thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_ITEMS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_ITEMS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "frontends/torchscript/call.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Largest number of items of a list or a dict.
inline constexpr size_t kMaxItems = 1'000'000;

// Compares values like torch: numbers by value, texts, lists item by item.
// Returns nullopt if the result is only known at run time. `depth`: number of
// lists around the values, which is limited.
std::optional<bool> AreEqual(Call& c, const Value& a, const Value& b,
                             int depth);

// Returns the position that an index has among the items; a negative index
// counts from the end. Fails if there is no such item, or if the index is only
// known at run time.
std::optional<size_t> IndexIn(Call& c, const std::vector<Value>& items,
                              const Value& index);

// Returns the index of the item with this key; nullopt if the dict does not
// have the key.
std::optional<size_t> FindKey(const Dict& dict, const Value& key);
// Sets the value of a key. A dict that has kMaxItems gets no new key.
void SetKey(Dict& dict, const Value& key, const Value& value);

// Returns the list, or the dict, `self` that an operator changes; null, with an
// error, if it must not be changed here.
List* ChangedList(Call& c);
Dict* ChangedDict(Call& c);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_ITEMS_H_
