// Imports operators on elements at computed positions: bags of embeddings,
// repetitions, masks and membership tests.
#include <limits>
#include <vector>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

Tensor Flat(const Tensor& x) {
  return ops::Reshape(x, {graph::ElementCount(x.shape())});
}

// Returns i64[count]: for each number i from 0 to count - 1, how many elements
// of `ends` are at most i. If `ends` are the ends of consecutive ranges, that
// is the number of the range that contains i.
Tensor CountPassed(Call& c, const Tensor& ends, const Dim& count) {
  const Tensor place =
      ops::AlongAxis(IotaVector(c.builder(), count, DType::kI64), 0, 2);
  const Tensor passed = ops::LessEqual(ops::AlongAxis(ends, 1, 2), place);
  return ops::Reduce(ops::Cast(passed, DType::kI64), "sum", {1}, false);
}

// Imports embedding_bag: for each bag (list of indices), the sum, mean or
// maximum of the table rows with these indices.
Value EmbeddingBag(Call& c) {
  const Tensor table = c.tensor("weight");
  const Tensor indices = c.Indices("indices");
  const Tensor offsets = c.Indices("offsets");
  const int64_t mode = c.integer("mode");
  if (!c.CheckRank("weight", table, 2, 2) ||
      !c.CheckRank("indices", indices, 1, 1) ||
      !c.CheckRank("offsets", offsets, 1, 1))
    return {};
  if (mode < 0 || mode > 2) {
    c.FailInvalid("mode: expected 0 to 2, found " + std::to_string(mode));
    return {};
  }
  const Dim places = indices.dim(0);
  const Dim bags =
      c.flag("include_last_offset") ? offsets.dim(0) - Dim(1) : offsets.dim(0);
  Tensor bag = CountPassed(c, offsets, places) - 1.0;
  const DType type = table.dtype();
  const Tensor wide = ops::Cast(table, ComputeType(type));
  const bool is_maximum = mode == 2;
  const double least =
      is_maximum ? -std::numeric_limits<double>::infinity() : 0;
  Tensor rows = ops::Gather(wide, indices, 0);
  if (c.has("per_sample_weights"))
    rows = rows *
           ops::Unsqueeze(c.scalar("per_sample_weights", wide.dtype()), {1});
  Tensor counts = ops::Broadcast(wide.Like(1), {places});
  if (c.has("padding_idx")) {
    int64_t padding = c.integer("padding_idx");
    if (padding >= 0) {
      const Tensor is_padding =
          ops::Equal(indices, static_cast<double>(padding));
      rows =
          ops::Select(ops::Unsqueeze(is_padding, {1}), rows.Like(least), rows);
      counts = ops::Select(is_padding, counts.Like(0), counts);
    }
  }
  if (!c.ok()) return {};
  const Tensor target = ops::Unsqueeze(bag, {1});
  Tensor y = Apply(
      "scatter_nd",
      {ops::Broadcast(wide.Like(least), {bags, table.dim(1)}), target, rows},
      {{"update", std::string(is_maximum ? "maximum" : "add")}});
  if (mode != 0) {
    const Tensor sizes = ops::Unsqueeze(
        Apply("scatter_nd",
              {ops::Broadcast(wide.Like(0), {bags}), target, counts},
              {{"update", std::string("add")}}),
        {1});
    // A bag (list of indices) without elements has the result 0, not -infinity
    // or 0 / 0.
    y = is_maximum ? ops::Select(ops::Equal(sizes, 0), y.Like(0), y)
                   : y / ops::Maximum(sizes, 1);
  }
  const Value other = Value::Text(
      Value::Kind::kConflict,
      "a further result of " + c.schema().name + ", which is not supported");
  return c.machine().NewTuple(
      {c.machine().NewTensor(ops::Cast(y, type)), other, other, other});
}

// Returns the indices for repeat_interleave, whose result has slice i of the
// operand repeats[i] times: for each slice of the result, the index of its
// slice in the operand.
Tensor RepeatedIndices(Call& c, const Tensor& repeats) {
  const Tensor ends = ops::InclusiveScan(repeats, 0, Opcode::kAdd, 0);
  Dim total(0);
  if (c.has("output_size")) {
    total = c.dim("output_size");
  } else if (const auto known = c.builder().IntegerContents(repeats.value())) {
    for (const Dim& one : *known) total = total + one;
  } else {
    total = c.machine().ToDim(Value::Dynamic(
        Value::Kind::kInt, ops::Reduce(repeats, "sum", {0}, false)));
  }
  return c.ok() ? CountPassed(c, ends, total) : repeats;
}
Tensor RepeatInterleave(Call& c) {
  Tensor x = c.tensor("self");
  Tensor repeats = c.Indices("repeats");
  if (!c.CheckRank("repeats", repeats, 0, 1)) return x;
  if (!c.has("dim")) x = Flat(x);
  const int axis = c.has("dim") ? c.axis("dim", x.rank()) : 0;
  if (!c.ok()) return x;
  if (repeats.rank() == 0 || repeats.dim(0) == Dim(1))
    repeats = ops::Broadcast(ops::Reshape(repeats, {Dim(1)}), {x.dim(axis)});
  return ops::Gather(x, RepeatedIndices(c, repeats), axis);
}
Tensor RepeatIndices(Call& c) {
  const Tensor repeats = c.Indices("repeats");
  if (!c.CheckRank("repeats", repeats, 1, 1)) return repeats;
  return RepeatedIndices(c, repeats);
}

// Imports masked_scatter, which replaces the elements where the mask is true by
// the elements of the source, in order. The program checks that the source has
// enough of them.
Tensor MaskedScatter(Call& c) {
  Tensor x = c.tensor("self");
  const Tensor source = Flat(ops::Cast(c.tensor("source"), x.dtype()));
  Tensor mask = c.tensor("mask");
  if (!c.ok()) return x;
  if (mask.is_float()) {
    c.machine().Want(mask, DType::kBool);
    c.FailInvalid("mask: expected booleans, found floats");
    return x;
  }
  mask = ops::Cast(mask, DType::kBool);
  if (!BroadcastTogether(c, x, mask)) return x;
  const Tensor number = ops::InclusiveScan(ops::Cast(Flat(mask), DType::kI64),
                                           0, Opcode::kAdd, 0) -
                        1.0;
  const Tensor place = ops::Select(Flat(mask), number, number.Like(0));
  return ops::Select(mask,
                     ops::Reshape(ops::Gather(source, place, 0), x.shape()), x);
}

// Imports isin: true for each element that is equal to some element of the
// other tensor.
Tensor IsIn(Call& c, std::string_view elements, std::string_view tests) {
  const DType type = ResultType(c, {elements, tests});
  const Tensor x = c.scalar(elements, type);
  const Tensor others = Flat(c.scalar(tests, type));
  if (!c.ok()) return x;
  const Tensor same =
      ops::Equal(ops::Unsqueeze(x, {x.rank()}),
                 ops::AlongAxis(others, x.rank(), x.rank() + 1));
  const Tensor any = ops::Cast(
      ops::Reduce(ops::Cast(same, DType::kU8), "maximum", {x.rank()}, false),
      DType::kBool);
  return c.flag("invert") ? ops::Not(any) : any;
}
Tensor TensorIsIn(Call& c) { return IsIn(c, "elements", "test_elements"); }
Tensor TensorIsNumber(Call& c) { return IsIn(c, "elements", "test_element"); }
Tensor NumberIsIn(Call& c) { return IsIn(c, "element", "test_elements"); }

// Imports put: returns x with the elements at row-major indices replaced by
// those of the source, or, if `accumulate`, increased by them.
Tensor Put(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor index = Flat(c.Indices("index"));
  const Tensor source = Flat(ops::Cast(c.tensor("source"), x.dtype()));
  if (!c.ok()) return x;
  const Tensor flat = Flat(x);
  return ops::Reshape(
      Apply(
          "scatter_nd",
          {flat, ops::Unsqueeze(ops::NormalizeIndices(index, flat.dim(0)), {1}),
           source},
          {{"update", std::string(c.flag("accumulate") ? "add" : "assign")}}),
      x.shape());
}

// Imports as_strided_scatter for a row-major x: replaces the elements whose
// position in memory is offset + sum(index * stride).
Tensor StridedScatter(Call& c) {
  const Tensor x = c.tensor("self");
  const Shape size = c.dims("size");
  const Shape strides = c.dims("stride");
  const Dim offset = c.has("storage_offset") ? c.dim("storage_offset") : Dim(0);
  const Tensor source = c.tensor("src");
  if (!c.ok()) return x;
  if (c.value("self").cell->base != nullptr || size.size() != strides.size() ||
      size.size() > static_cast<size_t>(kMaxRank)) {
    c.FailUnsupported(
        "expected a tensor that is no view, and as many strides as sizes");
    return x;
  }
  const auto rank = static_cast<int>(size.size());
  Tensor place = ops::Broadcast(ops::DimScalar(c.builder(), offset), size);
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    place =
        place + ops::AlongAxis(IotaVector(c.builder(), size[at], DType::kI64) *
                                   ops::DimScalar(c.builder(), strides[at]),
                               i, rank);
  }
  const Tensor values =
      Flat(ops::Broadcast(ops::Cast(source, x.dtype()), size));
  return ops::Reshape(
      Apply("scatter_nd", {Flat(x), ops::Unsqueeze(Flat(place), {1}), values},
            {{"update", std::string("assign")}}),
      x.shape());
}

// Imports tril_indices and triu_indices: the positions (row, column) of the
// elements of a triangle of a matrix of known size.
Tensor TriangleIndices(Call& c, bool is_upper) {
  const int64_t rows = c.integer("row");
  const int64_t columns = c.integer("col");
  const int64_t offset = c.integer("offset");
  const DType type = c.dtype("dtype", DType::kI64);
  constexpr int64_t kMax = 1 << 24;
  if (!c.ok()) return {};
  if (rows < 0 || columns < 0 || (columns > 0 && rows > kMax / columns)) {
    c.FailUnsupported("expected at most 2^24 elements of a matrix");
    return {};
  }
  std::vector<int64_t> places[2];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (is_upper ? j - i >= offset : j - i <= offset) {
        places[0].push_back(i);
        places[1].push_back(j);
      }
  std::vector<Tensor> parts;
  for (const std::vector<int64_t>& one : places)
    parts.push_back(
        ops::Unsqueeze(Tensor(&c.builder(), c.builder().Integers(one)), {0}));
  return ops::Cast(Concat(parts, 0), type);
}
Tensor LowerIndices(Call& c) { return TriangleIndices(c, false); }
Tensor UpperIndices(Call& c) { return TriangleIndices(c, true); }

// The runs of equal consecutive elements in a vector. `values`: element of each
// run; `numbers`: for each element the number of its run; `lengths`: length of
// each run.
struct Runs {
  Tensor values, numbers, lengths;
};
std::optional<Runs> RunsOf(Call& c, const Tensor& x) {
  const Dim count = x.dim(0);
  graph::GraphBuilder& builder = c.builder();
  if (count == Dim(0)) {
    const Tensor none = ops::Broadcast(c.Number(0, DType::kI64), {Dim(0)});
    return Runs{x, none, none};
  }
  const Tensor place = IotaVector(builder, count, DType::kI64);
  const Tensor before = ops::Gather(x, ops::Maximum(place - 1.0, 0), 0);
  const Tensor is_first =
      ops::Or(ops::Equal(place, 0), ops::NotEqual(x, before));
  const Tensor starts =
      ops::Squeeze(CallTensorRow(c, "aten::nonzero",
                                 {{"self", c.machine().NewTensor(is_first)}}),
                   {1});
  if (!c.ok()) return std::nullopt;
  const Tensor all = ops::Reshape(ops::DimScalar(builder, count), {Dim(1)});
  const Tensor ends =
      ops::SliceAxis(Concat({starts, all}, 0), 0, Dim(1), starts.dim(0));
  return Runs{
      ops::Gather(x, starts, 0),
      ops::InclusiveScan(ops::Cast(is_first, DType::kI64), 0, Opcode::kAdd, 0) -
          1.0,
      ends - starts};
}
Value RunResults(Call& c, const Runs& runs, const Tensor& numbers) {
  Machine& machine = c.machine();
  return machine.NewTuple({machine.NewTensor(runs.values),
                           machine.NewTensor(numbers),
                           machine.NewTensor(runs.lengths)});
}
Value UniqueConsecutive(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  if (c.has("dim") && x.rank() != 1) {
    c.FailUnsupported("dim: expected None for a tensor of several dims");
    return {};
  }
  const std::optional<Runs> runs = RunsOf(c, Flat(x));
  if (!runs) return {};
  return RunResults(c, *runs, ops::Reshape(runs->numbers, x.shape()));
}
// Imports unique. Results are the distinct values in ascending order, for each
// element of the operand the index of its value among them, and the number of
// times that each value occurs.
Value Unique(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  Machine& machine = c.machine();
  const Value sorted = CallRow(
      c, "aten::sort",
      {{"self", machine.NewTensor(Flat(x))}, {"dim", Value::Int(Dim(0))}});
  if (!c.ok()) return {};
  const Tensor values = machine.Read(*sorted.list->items[0].cell);
  const Tensor places = machine.Read(*sorted.list->items[1].cell);
  const std::optional<Runs> runs = RunsOf(c, values);
  if (!runs) return {};
  const Tensor numbers =
      Apply("scatter_nd",
            {ops::Broadcast(runs->numbers.Like(0), values.shape()),
             ops::Unsqueeze(places, {1}), runs->numbers},
            {{"update", std::string("assign")}});
  return RunResults(c, *runs, ops::Reshape(numbers, x.shape()));
}
Value UniqueWithoutCounts(Call& c) {
  const Value all = Unique(c);
  if (!c.ok()) return {};
  return c.machine().NewTuple({all.list->items[0], all.list->items[1]});
}
// Imports bincount: for each number from 0 on, how often it occurs, or the sum
// of the weights of its occurrences.
Tensor BinCount(Call& c) {
  const Tensor x = c.Indices("self");
  const Dim least = c.dim("minlength");
  if (!c.CheckRank("self", x, 1, 1)) return x;
  const Tensor most = ops::Maximum(ops::Reduce(x, "maximum", {0}, false) + 1.0,
                                   ops::DimScalar(c.builder(), least));
  const Dim bins = c.machine().ToDim(Value::Dynamic(Value::Kind::kInt, most));
  // Weights of f32 are summed in f32, all others in f64, as in PyTorch.
  DType type = DType::kI64;
  if (c.has("weights")) {
    const bool is_single = c.tensor("weights").dtype() == DType::kF32;
    type = is_single ? DType::kF32 : DType::kF64;
  }
  Tensor weights = ops::Broadcast(c.Number(1, type), x.shape());
  if (c.has("weights")) weights = ops::Cast(c.tensor("weights"), type);
  if (!c.ok()) return x;
  return Apply("scatter_nd",
               {ops::Broadcast(c.Number(0, type), {bins}),
                ops::Unsqueeze(x, {1}), weights},
               {{"update", std::string("add")}});
}
Tensor ShapeAsTensor(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<Tensor> extents;
  for (const Dim& dim : x.shape())
    extents.push_back(ops::Reshape(ops::DimScalar(c.builder(), dim), {Dim(1)}));
  if (!c.ok()) return x;
  if (extents.empty())
    return ops::Broadcast(c.Number(0, DType::kI64), {Dim(0)});
  return Concat(extents, 0);
}

#define EMBER_TORCH_BAG                                               \
  "(Tensor weight, Tensor indices, Tensor offsets, "                  \
  "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "    \
  "Tensor? per_sample_weights=None, bool include_last_offset=False, " \
  "int? padding_idx=None)"
#define EMBER_TORCH_TRIANGLE                                     \
  "(int row, int col, int offset=0, *, ScalarType? dtype=None, " \
  "Layout? layout=None, Device? device=None, bool? pin_memory=None)"

constexpr OperatorRow kRows[] = {
    {"embedding_bag" EMBER_TORCH_BAG, EmbeddingBag},
    {"_embedding_bag" EMBER_TORCH_BAG, EmbeddingBag},
    {"_embedding_bag_forward_only" EMBER_TORCH_BAG, EmbeddingBag},
    {"repeat_interleave(Tensor self, Tensor repeats, int? dim=None, *, "
     "int? output_size=None)",
     RepeatInterleave},
    {"repeat_interleave(Tensor repeats, *, int? output_size=None)",
     RepeatIndices},
    {"masked_scatter(Tensor self, Tensor mask, Tensor source)", MaskedScatter},
    {"isin(Tensor elements, Tensor test_elements, *, "
     "bool assume_unique=False, bool invert=False)",
     TensorIsIn},
    {"isin(Tensor elements, Number test_element, *, "
     "bool assume_unique=False, bool invert=False)",
     TensorIsNumber},
    {"isin(Number element, Tensor test_elements, *, "
     "bool assume_unique=False, bool invert=False)",
     NumberIsIn},
    {"_unique2(Tensor self, bool sorted=True, bool return_inverse=False, "
     "bool return_counts=False)",
     Unique},
    {"_unique(Tensor self, bool sorted=True, bool return_inverse=False)",
     UniqueWithoutCounts},
    {"unique_consecutive(Tensor self, bool return_inverse=False, "
     "bool return_counts=False, int? dim=None)",
     UniqueConsecutive},
    {"bincount(Tensor self, Tensor? weights=None, int minlength=0)", BinCount},
    {"_shape_as_tensor(Tensor self)", ShapeAsTensor},
    {"put(Tensor self, Tensor index, Tensor source, bool accumulate=False)",
     Put},
    {"as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, "
     "int? storage_offset=None)",
     StridedScatter},
    {"tril_indices" EMBER_TORCH_TRIANGLE, LowerIndices},
    {"triu_indices" EMBER_TORCH_TRIANGLE, UpperIndices},
};

}  // namespace

std::span<const OperatorRow> PositionRows() { return kRows; }

}  // namespace ember::torchscript
