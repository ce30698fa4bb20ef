// Imports layers that merge several inputs, such as Add and Concatenate.
#include <algorithm>
#include <string>
#include <vector>

#include "frontends/keras/layer_table.h"

namespace ember::keras {
namespace {

// Returns the inputs with equal ranks: inputs with fewer dims get dims of 1
// after the batch.
std::vector<Tensor> OfOneRank(LayerContext& c) {
  std::vector<Tensor> values;
  int rank = 0;
  for (const Signal& input : c.inputs)
    rank = std::max(rank, input.value.rank());
  for (const Signal& input : c.inputs) {
    std::vector<int64_t> axes;
    for (int i = input.value.rank(); i < rank; ++i)
      axes.push_back(static_cast<int64_t>(axes.size()) + 1);
    const bool fits = axes.empty() || input.value.rank() > 0;
    values.push_back(fits && !axes.empty() ? Unsqueeze(input.value, axes)
                                           : input.value);
  }
  if (values.empty()) c.FailInvalid("expected inputs to merge, found none");
  return values;
}

template <typename Combine>
Tensor Merge(LayerContext& c, const Combine& combine) {
  const std::vector<Tensor> values = OfOneRank(c);
  if (!c.ok()) return c.Wrap(nullptr);
  Tensor result = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    result = combine(result, values[i]);
  return result;
}

Tensor Sum(LayerContext& c) {
  return Merge(c, [](Tensor a, Tensor b) { return a + b; });
}

Tensor Normalized(Tensor x, int axis) {
  return x / Sqrt(Maximum(Reduce(x * x, "sum", {axis}, /*keep=*/true), 1e-12));
}

}  // namespace

void ImportAdd(LayerContext& c) { c.SetOutput(Sum(c)); }
void ImportMultiply(LayerContext& c) {
  c.SetOutput(Merge(c, [](Tensor a, Tensor b) { return a * b; }));
}
void ImportAverage(LayerContext& c) {
  c.SetOutput(Sum(c) / static_cast<double>(std::max(c.input_count(), 1)));
}
void ImportMaximum(LayerContext& c) {
  c.SetOutput(Merge(c, [](Tensor a, Tensor b) { return Maximum(a, b); }));
}
void ImportMinimum(LayerContext& c) {
  c.SetOutput(Merge(c, [](Tensor a, Tensor b) { return Minimum(a, b); }));
}
void ImportSubtract(LayerContext& c) {
  if (c.input_count() != 2) {
    return c.FailInvalid("expected two inputs, found " +
                         std::to_string(c.input_count()));
  }
  c.SetOutput(Merge(c, [](Tensor a, Tensor b) { return a - b; }));
}

void ImportConcatenate(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const int rank = c.Input(0).rank();
  const int axis = c.Axis(c.config().Integer("axis", -1), rank);
  std::vector<Tensor> values;
  bool any_mask = false;
  for (const Signal& input : c.inputs) {
    values.push_back(input.value);
    any_mask = any_mask || input.mask.present();
  }
  c.SetOutput(Concat(values, axis));
  if (!any_mask || rank < 2 || !c.ok()) return;
  // An input without a mask keeps all of its steps.
  std::vector<Tensor> masks;
  for (const Signal& input : c.inputs) {
    masks.push_back(input.mask
                        ? input.mask
                        : Broadcast(c.Scalar(1, DType::kBool),
                                    {input.value.dim(0), input.value.dim(1)}));
  }
  if (axis == 1) return c.SetMask(0, Concat(masks, 1));
  Tensor all = masks[0];
  for (size_t i = 1; i < masks.size(); ++i) all = And(all, masks[i]);
  c.SetMask(0, all);
}

// Computes, for each element of the batch, the products of slices along one
// axis of each input.
void ImportDot(LayerContext& c) {
  if (c.input_count() != 2)
    return c.FailInvalid("expected two inputs, found " +
                         std::to_string(c.input_count()));
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 2)) return;
  Tensor a = c.Input(0), b = c.Input(1);
  const std::vector<int64_t> axes =
      c.config().Integers("axes", 2, std::nullopt);
  const int of_a = c.Axis(axes[0], a.rank());
  const int of_b = c.Axis(axes[1], b.rank());
  if (!c.ok()) return;
  if (of_a == 0 || of_b == 0)
    return c.FailUnsupported("axes: products over the batch");
  if (c.config().Flag("normalize", false)) {
    a = Normalized(a, of_a);
    b = Normalized(b, of_b);
  }
  std::string left, right, result = "a";
  char letter = 'c';
  for (int i = 0; i < a.rank(); ++i) {
    left += i == 0 ? 'a' : i == of_a ? 'b' : letter++;
    if (i != 0 && i != of_a) result += left.back();
  }
  for (int i = 0; i < b.rank(); ++i) {
    right += i == 0 ? 'a' : i == of_b ? 'b' : letter++;
    if (i != 0 && i != of_b) result += right.back();
  }
  Tensor y = Contract(a, b, left + "," + right + "->" + result);
  if (y.rank() == 1) y = Unsqueeze(y, {1});
  c.SetOutput(y);
}

}  // namespace ember::keras
