// Imports operators of ai.onnx.ml that convert between tensors and maps.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/onnx/node/sequence.h"

namespace ember::onnx {
namespace {

// Returns the indices of the keys in ascending order of the keys. Of equal keys
// only the last one is included.
template <typename Key>
std::vector<int64_t> AscendingOrder(const std::vector<Key>& keys) {
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
  std::vector<int64_t> last;
  for (int64_t i : order) {
    if (!last.empty() && keys[last.back()] == keys[i]) last.pop_back();
    last.push_back(i);
  }
  return last;
}

template <typename Key>
std::vector<Key> Chosen(const std::vector<Key>& keys,
                        const std::vector<int64_t>& order) {
  std::vector<Key> chosen;
  for (int64_t i : order) chosen.push_back(keys[i]);
  return chosen;
}

// Makes a map for each row of the scores, [N, E], whose columns have the order
// of the labels.
void ImportZipMap(NodeContext& c) {
  const Labels labels =
      ReadLabels(c, "classlabels_strings", "classlabels_int64s");
  Tensor x = ReadRows(c);
  if (!x || !c.ok()) return;
  const Dim columns(labels.size());
  if (x.dim(1).is_constant() && x.dim(1) != columns) {
    return c.FailInvalid("expected " + x.dim(1).ToString() +
                         " class labels, found " + columns.ToString());
  }
  if (x.dim(1) != columns) {
    x = Apply("assume", {x}, {{"shape", Shape{x.dim(0), columns}}});
  }
  const std::vector<int64_t> order =
      labels.strings ? AscendingOrder(*c.Strings("classlabels_strings"))
                     : AscendingOrder(labels.values);
  if (Dim(std::ssize(order)) != columns || !std::ranges::is_sorted(order))
    x = Gather(x, c.Integers64(order), 1);
  const Tensor keys =
      HandleVector(c, Chosen(labels.values, order), labels.strings);
  c.SetOutput(0, MakeMap(c.builder(), SequenceKind::kMaps, x, keys));
}

struct Map {
  Tensor values, keys;  // both are [n]
  bool string_values = false;
  bool string_keys = false;
};

std::optional<Map> ReadMap(NodeContext& c) {
  const SequenceValue* map = c.Input(0).sequence();
  if (!c.ok() || map == nullptr || map->kind != SequenceKind::kMap) {
    c.FailInvalid("input 0: expected a map, found another kind of value");
    return std::nullopt;
  }
  return Map{map->data, map->dims,
             map->data.carried_type() == TensorProto::STRING,
             map->dims.carried_type() == TensorProto::STRING};
}

Tensor MarkedAs(Tensor x, bool strings) {
  return x.Marked(strings ? TensorProto::STRING : 0);
}

// Looks up the keys of a vocabulary in the map: 0 or "" where the map lacks the
// key. The vocabulary may contain a key twice.
void ImportDictVectorizer(NodeContext& c) {
  const Labels vocabulary =
      ReadLabels(c, "string_vocabulary", "int64_vocabulary");
  const std::optional<Map> map = ReadMap(c);
  if (!map || !c.ok()) return;
  if (map->string_keys != vocabulary.strings) {
    return c.FailInvalid(
        std::string("expected a vocabulary of the map's keys, which are ") +
        (map->string_keys ? "strings" : "integers"));
  }
  const Tensor hit =
      Equal(Unsqueeze(vocabulary.Vector(c), {1}), Unsqueeze(map->keys, {0}));
  const Tensor values = Unsqueeze(map->values, {0});
  Tensor y = Reduce(Select(hit, values, values.Like(0)), "sum", {1}, false);
  if (map->string_values) {
    const Tensor hits = Reduce(Cast(hit, DType::kI64), "sum", {1}, false);
    y = Select(Equal(hits, 0), c.StringScalar(""), y);
  }
  c.SetOutput(0, MarkedAs(Unsqueeze(y, {0}), map->string_values));
}

// Returns a map's values, [n], as numbers or strings, depending on `cast_to`;
// nullopt after an error.
std::optional<Tensor> CastValues(NodeContext& c, const Map& map,
                                 const std::string& cast_to) {
  if (cast_to == "TO_STRING") {
    if (map.string_values) return map.values;
    return Apply("number_to_string", {map.values}, {})
        .Marked(TensorProto::STRING);
  }
  if (cast_to != "TO_FLOAT" && cast_to != "TO_INT64") {
    c.FailInvalid(
        "attribute 'cast_to': expected TO_FLOAT, TO_INT64 or TO_STRING, found "
        "'" +
        cast_to + "'");
    return std::nullopt;
  }
  const DType type = cast_to == "TO_FLOAT" ? DType::kF32 : DType::kI64;
  if (!map.string_values) return Cast(map.values, type);
  return Apply("string_to_number", {map.values}, {{"dtype", type}});
}

// Sorts the items of a map by key, and returns the values in this order.
Tensor InOrderOfKeys(NodeContext& c, Tensor keys, Tensor values) {
  const std::vector<graph::Value*> sorted =
      c.builder().ApplyAll("top_k", {keys.value()},
                           {{"axis", int64_t{0}},
                            {"k", Shape{keys.dim(0)}},
                            {"largest", int64_t{0}}});
  if (sorted.size() != 2) return c.Wrap(nullptr);
  return Gather(values, c.Wrap(sorted[1]), 0);
}

void ImportCastMap(NodeContext& c) {
  const std::optional<Map> map = ReadMap(c);
  if (!map) return;
  if (map->string_keys)
    return c.FailInvalid("expected a map with integers as keys");
  const std::string cast_to = c.String("cast_to", "TO_FLOAT");
  const std::string form = c.String("map_form", "DENSE");
  const int64_t size = c.Integer("max_map", 1);
  const std::optional<Tensor> values = CastValues(c, *map, cast_to);
  if (!values || !c.ok()) return;
  const bool strings = cast_to == "TO_STRING";
  Tensor y;
  if (form == "DENSE") {
    y = InOrderOfKeys(c, map->keys, *values);
  } else if (form == "SPARSE" && size > 0) {
    // SPARSE: positions of the result without a key get 0 or, for strings,
    // "0.f" as in ONNX Runtime. A key beyond the result ends the run with an
    // error.
    const Tensor filler = strings ? c.StringScalar("0.f") : values->Like(0);
    y = Apply("scatter_elements",
              {Broadcast(filler, {Dim(size)}), map->keys, *values},
              {{"axis", int64_t{0}}, {"update", std::string("assign")}});
  } else {
    return c.FailInvalid(
        "expected attributes 'map_form' = DENSE, or SPARSE and a 'max_map' of "
        "at least 1; found " +
        form + ", " + std::to_string(size));
  }
  c.SetOutput(0, MarkedAs(Unsqueeze(y, {0}), strings));
}

constexpr OperatorRow kRows[] = {
    {"CastMap", 0, 1, 1, ImportCastMap, kMlDomain, CarriedTypes::kRefused, 0,
     Sequences::kMaps},
    {"DictVectorizer", 0, 1, 1, ImportDictVectorizer, kMlDomain,
     CarriedTypes::kRefused, 0, Sequences::kMaps},
    {"ZipMap", 0, 1, 1, ImportZipMap, kMlDomain},
};

}  // namespace

std::span<const OperatorRow> MlMapOperators() { return kRows; }

}  // namespace ember::onnx
