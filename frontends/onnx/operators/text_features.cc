// TfIdfVectorizer: counts the n-grams of a pool in sequences of numbers or
// strings (handles, which are numbers too).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

struct NgramPool {
  struct Length {
    int64_t length = 0;
    // All n-grams of this length, one after the other: each is `length` items
    // (numbers, or handles of strings).
    std::vector<int64_t> items;
    int64_t count() const {
      return static_cast<int64_t>(items.size()) / length;
    }
  };
  std::vector<Length> lengths;  // 1, 2, …
  // For each n-gram of the pool, the column of the result that holds its count.
  std::vector<int64_t> columns;
  // For each n-gram of the pool, the factor of its count; if empty, all are 1.
  std::vector<float> weights;
  int64_t shortest = 0;
  int64_t longest = 0;
  int64_t skips = 0;
};

bool CheckAttributes(NodeContext& c) {
  for (const char* name :
       {"min_gram_length", "max_gram_length", "max_skip_count", "mode",
        "ngram_counts", "ngram_indexes"}) {
    if (c.HasAttribute(name)) continue;
    c.FailInvalid(std::string("attribute '") + name + "' is missing");
    return false;
  }
  return true;
}

// Returns the items of the pool, as numbers, in the form in which the operand
// has them (strings as handles); nullopt after an error.
std::optional<std::vector<int64_t>> ReadItems(NodeContext& c) {
  if (c.Input(0).carried_type() == TensorProto::STRING) {
    const auto texts = c.Strings("pool_strings");
    if (!texts) {
      c.FailInvalid("attribute 'pool_strings' is missing");
      return std::nullopt;
    }
    std::vector<int64_t> handles;
    for (const std::string& text : *texts)
      handles.push_back(c.builder().StringHandle(text));
    return handles;
  }
  std::optional<std::vector<int64_t>> items = c.Integers("pool_int64s");
  if (!items) c.FailInvalid("attribute 'pool_int64s' is missing");
  return items;
}

// Splits the items of the pool at ngram_counts, the positions at which the
// n-grams of each length begin. Returns false after an error.
bool ReadLengths(NodeContext& c, const std::vector<int64_t>& items,
                 NgramPool& pool) {
  const std::vector<int64_t> starts = c.Integers("ngram_counts", {});
  const int64_t total = static_cast<int64_t>(items.size());
  for (size_t i = 0; i < starts.size(); ++i) {
    NgramPool::Length length;
    length.length = static_cast<int64_t>(i) + 1;
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : total;
    if (starts[i] < 0 || end < starts[i] || end > total ||
        (end - starts[i]) % length.length != 0) {
      c.FailInvalid("attribute 'ngram_counts': expected where the " +
                    std::to_string(length.length) +
                    "-grams of the pool start, found " +
                    std::to_string(starts[i]));
      return false;
    }
    length.items.assign(items.begin() + starts[i], items.begin() + end);
    pool.lengths.push_back(std::move(length));
  }
  return true;
}

std::optional<NgramPool> ReadPool(NodeContext& c) {
  if (!CheckAttributes(c)) return std::nullopt;
  NgramPool pool;
  pool.shortest = c.Integer("min_gram_length", 1);
  pool.longest = c.Integer("max_gram_length", 1);
  pool.skips = c.Integer("max_skip_count", 0);
  if (pool.shortest < 1 || pool.longest < pool.shortest ||
      pool.longest > 1024 || pool.skips < 0 || pool.skips > 65536) {
    c.FailInvalid(
        "expected 1 <= min_gram_length <= max_gram_length <= 1024 and "
        "max_skip_count from 0 to 65536");
    return std::nullopt;
  }
  const std::optional<std::vector<int64_t>> items = ReadItems(c);
  if (!items || !ReadLengths(c, *items, pool)) return std::nullopt;
  int64_t count = 0;
  for (const NgramPool::Length& length : pool.lengths) count += length.count();
  pool.columns = c.Integers("ngram_indexes", {});
  const std::vector<double> weights =
      c.Floats("weights").value_or(std::vector<double>());
  pool.weights.assign(weights.begin(), weights.end());
  if (static_cast<int64_t>(pool.columns.size()) != count ||
      (!weights.empty() && weights.size() != pool.columns.size())) {
    c.FailInvalid("attributes 'ngram_indexes', 'weights': expected " +
                  std::to_string(count) + " elements, one per n-gram");
    return std::nullopt;
  }
  for (int64_t column : pool.columns) {
    if (column >= 0 && column < int64_t{1} << 31) continue;
    c.FailInvalid("attribute 'ngram_indexes': expected 0 to 2^31, found " +
                  std::to_string(column));
    return std::nullopt;
  }
  return pool;
}

// Returns how often each n-gram of one length occurs in x [sequences, items],
// if the items of an occurrence are `step` apart: [sequences, n-grams]. It
// compares once per item of the n-gram.
Tensor CountNgrams(NodeContext& c, Tensor x, const NgramPool::Length& length,
                   int64_t step) {
  const Dim& items = x.dim(1);
  const int64_t reach = (length.length - 1) * step;
  Tensor padded =
      Pad(x, {Dim(0), Dim(0)}, {Dim(0), Dim(reach)}, "constant", x.Like(0));
  Tensor position =
      AlongAxis(IotaVector(c.builder(), items, DType::kI64), 1, 3);
  // An n-gram that would end after the sequence does not match.
  Tensor matches = Less(position + static_cast<double>(reach),
                        DimScalar(c.builder(), items));
  for (int64_t i = 0; i < length.length; ++i) {
    std::vector<int64_t> wanted;
    for (int64_t ngram = 0; ngram < length.count(); ++ngram)
      wanted.push_back(length.items[ngram * length.length + i]);
    Tensor found = Unsqueeze(SliceAxis(padded, 1, Dim(i * step), items), {2});
    matches = And(matches, Equal(found, AlongAxis(c.Integers64(wanted), 2, 3)));
  }
  return Reduce(Cast(matches, DType::kF32), "sum", {1}, false);
}

// Returns how often each n-gram of the pool occurs in each sequence,
// [sequences, n-grams].
Tensor CountAll(NodeContext& c, Tensor x, const NgramPool& pool) {
  std::vector<Tensor> parts;
  for (const NgramPool::Length& length : pool.lengths) {
    if (length.count() == 0) continue;
    Tensor sum =
        Broadcast(c.Scalar(0, DType::kF32), {x.dim(0), Dim(length.count())});
    if (length.length >= pool.shortest && length.length <= pool.longest) {
      // The attribute max_skip_count allows gaps between the items of an
      // n-gram. An n-gram of one item has none, so it is counted once.
      const int64_t steps = length.length == 1 ? 1 : pool.skips + 1;
      for (int64_t step = 1; step <= steps; ++step) {
        const Dim room = x.dim(1) - Dim((length.length - 1) * step);
        if (room.is_constant() && room.constant() < 1) break;
        sum = sum + CountNgrams(c, x, length, step);
      }
    }
    parts.push_back(sum);
  }
  return Concat(parts, 1);
}

void ImportTfIdfVectorizer(NodeContext& c) {
  if (!c.CheckRank(0, 1, 2)) return;
  const std::optional<NgramPool> pool = ReadPool(c);
  if (!pool) return;
  Tensor x = Cast(c.Input(0), DType::kI64);
  const bool is_single = x.rank() == 1;
  if (is_single) x = Unsqueeze(x, {0});
  const std::string mode = c.String("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return c.FailInvalid(
        "attribute 'mode': expected TF, IDF or TFIDF, found '" + mode + "'");
  }
  if (pool->columns.empty())
    return c.FailInvalid("attribute 'ngram_indexes': expected an n-gram");
  Tensor counts = CountAll(c, x, *pool);
  if (mode == "IDF") counts = Cast(Less(0, counts), DType::kF32);
  if (mode != "TF" && !pool->weights.empty()) {
    counts = counts * AlongAxis(c.Vector(DType::kF32, pool->weights), 1, 2);
  }
  const int64_t width =
      *std::max_element(pool->columns.begin(), pool->columns.end()) + 1;
  Tensor columns =
      Broadcast(AlongAxis(c.Integers64(pool->columns), 1, 2), counts.shape());
  Tensor empty = Broadcast(c.Scalar(0, DType::kF32), {x.dim(0), Dim(width)});
  Tensor y = Apply("scatter_elements", {empty, columns, counts},
                   {{"axis", int64_t{1}}, {"update", std::string("add")}});
  c.SetOutput(0, is_single ? Squeeze(y, {0}) : y);
}

constexpr OperatorRow kRows[] = {
    {"TfIdfVectorizer", 9, 1, 1, ImportTfIdfVectorizer, "",
     CarriedTypes::kStrings},
};

}  // namespace

std::span<const OperatorRow> TextFeatureOperators() { return kRows; }

}  // namespace ember::onnx
