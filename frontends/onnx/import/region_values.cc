#include "frontends/onnx/import/region_values.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ember::onnx {
namespace {

// True if a and b can be made one kind of value, which can then hold either.
// Two sequences always can, even if one is an optional.
bool SameKind(const Tensor& a, const Tensor& b) {
  if (a.sequence() != nullptr && b.sequence() != nullptr) return true;
  for (const Tensor* one : {&a, &b}) {
    // A tensor can become an optional tensor, but not a sequence.
    if (one->sequence() != nullptr)
      return one->sequence()->kind == SequenceKind::kOptionalTensor;
  }
  return a.rank() == b.rank() && a.dtype() == b.dtype() &&
         a.carried_type() == b.carried_type();
}

}  // namespace

void CheckOperands(NodeContext& c, int first, bool sequences) {
  for (int i = first; i < c.input_count(); ++i) {
    const std::string which = "input " + std::to_string(i);
    if (!c.Input(i)) {
      c.FailInvalid(which + " is missing");
    } else if (!sequences && c.Input(i).sequence() != nullptr) {
      c.FailInvalid(which + ": expected a tensor, found a sequence");
    }
  }
}

Tensor Captured(graph::Region& region, const Tensor& outer) {
  graph::GraphBuilder& builder = region.builder();
  const auto capture = [&](const Tensor& tensor) {
    if (!tensor) return tensor;
    return Tensor(&builder, region.Capture(tensor.value()))
        .Marked(tensor.carried_type());
  };
  if (outer.sequence() == nullptr) return capture(outer);
  SequenceValue value = *outer.sequence();
  if (value.elements) {
    for (Tensor& element : *value.elements) element = capture(element);
    value.data = value.dims = Tensor();
  } else {
    value.data = capture(value.data);
    value.dims = capture(value.dims);
  }
  value.flag = capture(value.flag);
  return MakeSequence(builder, std::move(value));
}

Tensor AsKind(Tensor value, SequenceKind kind) {
  if (kind == SequenceKind::kSequence) return value;
  graph::GraphBuilder& builder = value.builder();
  if (value.sequence() == nullptr) {
    SequenceValue optional;
    optional.kind = SequenceKind::kOptionalTensor;
    optional.dtype = value.dtype();
    optional.carried_type = value.carried_type();
    optional.rank = value.rank();
    optional.elements = std::vector<Tensor>{value};
    return MakeSequence(builder, std::move(optional));
  }
  if (value.sequence()->kind != SequenceKind::kSequence) return value;
  SequenceValue optional = *value.sequence();
  optional.kind = SequenceKind::kOptionalSequence;
  optional.flag = Tensor(&builder, builder.Scalar(1, DType::kBool));
  return MakeSequence(builder, std::move(optional));
}

RegionValues::RegionValues(const std::vector<Tensor>& likes) {
  for (const Tensor& tensor : likes) {
    likes_.push_back(
        {tensor, tensor.sequence() ? tensor.sequence()->rank : -1});
  }
}

bool RegionValues::has_sequences() const {
  return std::any_of(likes_.begin(), likes_.end(), [](const Like& like) {
    return like.tensor.sequence() != nullptr;
  });
}

bool RegionValues::Widen(const std::vector<Tensor>& values) {
  bool changed = false;
  for (size_t i = 0; i < std::min(values.size(), likes_.size()); ++i) {
    Like& like = likes_[i];
    const SequenceValue* value = values[i].sequence();
    if (value == nullptr) {
      // `values[i]` is a plain tensor where an optional tensor is expected. It
      // becomes one, so only the rank must be large enough.
      if (like.tensor.sequence() != nullptr && like.rank < values[i].rank()) {
        like.rank = values[i].rank();
        changed = true;
      }
      continue;
    }
    const bool is_optional = value->kind != SequenceKind::kSequence;
    const bool was_optional =
        like.tensor.sequence() != nullptr &&
        like.tensor.sequence()->kind != SequenceKind::kSequence;
    if (like.tensor.sequence() == nullptr || (is_optional && !was_optional)) {
      like = {values[i], std::max(like.rank, value->rank)};
      changed = true;
    } else if (value->rank > like.rank) {
      like.rank = value->rank;
      changed = true;
    }
  }
  return changed;
}

int RegionValues::PartCount() const {
  int count = 0;
  for (const Like& like : likes_) count += onnx::PartCount(like.tensor);
  return count;
}

std::vector<graph::Value*> RegionValues::Flatten(
    const std::vector<Tensor>& values) const {
  std::vector<graph::Value*> parts;
  for (size_t i = 0; i < likes_.size(); ++i) {
    const SequenceValue* like = likes_[i].tensor.sequence();
    const Tensor value =
        like == nullptr ? values[i] : AsKind(values[i], like->kind);
    for (const Tensor& part : PartsOf(value, likes_[i].rank))
      parts.push_back(part.value());
  }
  return parts;
}

std::vector<Tensor> RegionValues::Rebuild(
    graph::GraphBuilder& builder, std::span<graph::Value* const> parts) const {
  std::vector<Tensor> values;
  for (const Like& like : likes_) {
    const auto count = static_cast<size_t>(onnx::PartCount(like.tensor));
    if (parts.size() < count) break;  // after an error
    const std::vector<Tensor> tensors = TensorsOf(builder, parts.first(count));
    if (!builder.status().ok()) return {};
    values.push_back(FromParts(like.tensor, tensors));
    parts = parts.subspan(count);
  }
  return values;
}

std::vector<Tensor> RegionValues::LoopResults(
    graph::GraphBuilder& builder, const std::vector<graph::Value*>& results,
    const std::vector<Tensor>& last) const {
  std::vector<Tensor> values = Rebuild(builder, results);
  for (size_t i = 0; i < values.size(); ++i) {
    const SequenceValue* inside = last[i].sequence();
    const SequenceValue* outside = values[i].sequence();
    if (inside == nullptr || outside == nullptr ||
        inside->kind != SequenceKind::kSequence ||
        outside->kind != SequenceKind::kOptionalSequence)
      continue;
    SequenceValue plain = *outside;
    plain.kind = SequenceKind::kSequence;
    values[i] = MakeSequence(builder, std::move(plain));
  }
  for (size_t i = static_cast<size_t>(PartCount()); i < results.size(); ++i) {
    values.push_back(Tensor(&builder, results[i])
                         .Marked(last[values.size()].carried_type()));
  }
  return values;
}

std::vector<Tensor> RegionValues::Inputs(
    graph::Region& region, const std::vector<Tensor>& values) const {
  graph::GraphBuilder& builder = region.builder();
  std::vector<graph::Value*> parts;
  int number = 0;
  for (size_t i = 0; i < likes_.size(); ++i) {
    const SequenceValue* like = likes_[i].tensor.sequence();
    const auto add = [&](DType dtype, Shape shape) {
      parts.push_back(region.Input("value" + std::to_string(number++),
                                   {dtype, std::move(shape)}));
    };
    if (like == nullptr) {
      add(values[i].dtype(), values[i].shape());
      continue;
    }
    add(like->dtype, {builder.FreshSymbol()});
    add(DType::kI64, {builder.FreshSymbol(), Dim(std::max(likes_[i].rank, 0))});
    if (like->kind == SequenceKind::kOptionalSequence) add(DType::kBool, {});
  }
  return Rebuild(builder, parts);
}

bool SameKinds(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameKind(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace ember::onnx
