#include "frontends/torchscript/machine.h"

#include <algorithm>
#include <memory>

#include "frontends/ops/compositions.h"
#include "frontends/ops/errors.h"

namespace ember::torchscript {
namespace {

// Largest length of a chain of views. A view is read through its base, so
// reading the last one costs as many operations as the chain has views.
constexpr int kMaxViews = 200;

std::string DescribeTensor(const Tensor& tensor) {
  return tensor.value() == nullptr
             ? "a tensor"
             : "a tensor " + graph::ToString(tensor.value()->type());
}

}  // namespace

std::string Describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kUninitialized:
      return "nothing";
    case Value::Kind::kConflict:
      return value.text;
    case Value::Kind::kNone:
      return "None";
    case Value::Kind::kBool:
      return "a bool";
    case Value::Kind::kInt:
      return value.is_known_number() ? "the int " + value.dim.ToString()
                                     : "an int";
    case Value::Kind::kFloat:
      return "a float";
    case Value::Kind::kString:
      return "a str";
    case Value::Kind::kDevice:
      return "a device";
    case Value::Kind::kFunction:
      return "the name " + value.text;
    case Value::Kind::kTensor:
      if (value.is_complex()) return "a tensor of complex numbers";
      return value.cell->value ? DescribeTensor(value.cell->value) : "a tensor";
    case Value::Kind::kList:
      return "a list of " + std::to_string(value.list->items.size());
    case Value::Kind::kTuple:
      return "a tuple of " + std::to_string(value.list->items.size());
    case Value::Kind::kDict:
      return "a dict";
    case Value::Kind::kObject:
      return "an object of class " + value.object->class_name;
  }
  return "nothing";
}

bool IsSame(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Value::Kind::kUninitialized:
    case Value::Kind::kNone:
      return true;
    case Value::Kind::kBool:
    case Value::Kind::kInt:
      if (a.is_dynamic() || b.is_dynamic())
        return a.dynamic.value() == b.dynamic.value();
      return a.dim == b.dim;
    case Value::Kind::kFloat:
      if (a.is_dynamic() || b.is_dynamic())
        return a.dynamic.value() == b.dynamic.value();
      return a.number == b.number;
    case Value::Kind::kConflict:
      return a.text == b.text && a.list == b.list;
    case Value::Kind::kString:
    case Value::Kind::kDevice:
    case Value::Kind::kFunction:
      return a.text == b.text;
    case Value::Kind::kTensor:
      return a.cell == b.cell;
    case Value::Kind::kList:
    case Value::Kind::kTuple:
      return a.list == b.list;
    case Value::Kind::kDict:
      return a.dict == b.dict;
    case Value::Kind::kObject:
      return a.object == b.object;
  }
  return false;
}

void Machine::Fail(Status status) {
  if (ok()) status_ = std::move(status);
}
void Machine::FailInvalid(std::string message) {
  Fail(InvalidArgumentError(std::move(message))
           .WithContext("node '" + builder().origin() + "'"));
}
void Machine::FailUnsupported(std::string message) {
  Fail(UnimplementedError(std::move(message))
           .WithContext("node '" + builder().origin() + "'"));
}

void Machine::Enter(graph::Region& region) {
  region.builder().SetOrigin(builder().origin());
  regions_.push_back(&region);
  builders_.push_back(&region.builder());
}

void Machine::Leave() {
  if (status_.ok()) status_ = builder().status();
  builders_.pop_back();
  regions_.pop_back();
}

Tensor Machine::Inside(const Tensor& tensor) {
  if (!tensor || &tensor.builder() == builders_.back()) return tensor;
  if (!ok() || tensor.value() == nullptr) return {&builder(), nullptr};
  size_t level = 0;
  while (level < builders_.size() && builders_[level] != &tensor.builder())
    ++level;
  if (level == builders_.size()) {
    // The tensor belongs to a region that has ended. After a branch only merged
    // values may be used, so that is an error of the importer.
    Fail(InternalError("a value of a branch was used behind it"));
    return {&builder(), nullptr};
  }
  graph::Value* value = tensor.value();
  for (; level + 1 < builders_.size() && value != nullptr; ++level)
    value = regions_[level]->Capture(value);
  return {&builder(), value};
}

bool Machine::Charge(size_t count) {
  constexpr size_t kMax = 1'000'000;
  charged_ += std::min(count, kMax);
  if (charged_ <= kMax) return true;
  Fail(ResourceExhaustedError("code: expected at most " + std::to_string(kMax) +
                              " tensors and items of lists, found more"));
  return false;
}

Value Machine::NewTensor(Tensor tensor) {
  Charge(1);
  Cell& cell = heap_.cells.emplace_back();
  cell.value = std::move(tensor);
  cell.root = &cell;
  cell.stamp = cell.made = ++stamps_;
  Value value;
  value.kind = Value::Kind::kTensor;
  value.cell = &cell;
  return value;
}

Value Machine::NewStored(std::function<Tensor()> load) {
  Value value = NewTensor(Tensor());
  value.cell->load = std::move(load);
  return value;
}

Shape RowMajorStrides(const Shape& shape) {
  Shape strides(shape.size());
  Dim stride(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * shape[i];
  }
  return strides;
}

Shape Machine::StridesOf(Cell& cell) {
  return cell.base == nullptr ? RowMajorStrides(Read(cell).shape())
                              : cell.strides;
}

bool Machine::IsRowMajor(Cell& cell) {
  if (cell.base == nullptr) return true;
  const Shape shape = Read(cell).shape();
  const Shape expected = RowMajorStrides(shape);
  for (size_t i = 0; i < shape.size() && i < cell.strides.size(); ++i)
    if (shape[i] != Dim(1) && cell.strides[i] != expected[i]) return false;
  return true;
}

Value Machine::NewComplex(Tensor parts) {
  Value value = NewTensor(std::move(parts));
  value.cell->is_complex = true;
  return value;
}

Value Machine::NewQuantized(Tensor integers, Quantization quantization) {
  Value value = NewTensor(std::move(integers));
  value.cell->quantization =
      std::make_shared<const Quantization>(std::move(quantization));
  return value;
}

Value Machine::NewView(Cell& base, Shape strides,
                       std::function<Tensor(Tensor)> read,
                       std::function<Tensor(Tensor, Tensor)> write) {
  const Tensor now = Read(base);
  if (!ok()) return NewTensor(now);
  Value value = NewTensor(Inside(read(now)));
  Cell& cell = *value.cell;
  cell.stamp = base.root->stamp;
  cell.base = &base;
  cell.root = base.root;
  cell.strides = std::move(strides);
  cell.read = std::move(read);
  cell.write = std::move(write);
  cell.views = base.views + 1;
  if (cell.views > kMaxViews) cell.write = nullptr;
  return value;
}

Value Machine::NewList(std::vector<Value> items) {
  if (!Charge(items.size() + 1)) items.clear();
  List& list = heap_.lists.emplace_back();
  list.items = std::move(items);
  list.level = level();
  Value value;
  value.kind = Value::Kind::kList;
  value.list = &list;
  return value;
}

Value Machine::NewTuple(std::vector<Value> items) {
  Value value = NewList(std::move(items));
  value.kind = Value::Kind::kTuple;
  return value;
}

Value Machine::NewDict() {
  Dict& dict = heap_.dicts.emplace_back();
  dict.level = level();
  Value value;
  value.kind = Value::Kind::kDict;
  value.dict = &dict;
  return value;
}

Object& Machine::NewObject(std::string class_name) {
  Object& object = heap_.objects.emplace_back();
  object.class_name = std::move(class_name);
  object.level = level();
  return object;
}

Tensor Machine::Read(Cell& cell) {
  if (!ok()) return {&builder(), nullptr};
  // A tensor of the archive may be a view of another one in the same storage.
  // If that one was written to, this one is not loaded but read from it.
  const bool is_stale = cell.base != nullptr && cell.stamp != cell.root->stamp;
  if (cell.load && !is_stale) {
    const auto load = std::exchange(cell.load, nullptr);
    cell.value = load();
  }
  // The cell may be a view of views that are all out of date. They are updated
  // in order, beginning with the one whose base is up to date.
  std::vector<Cell*> stale;
  Cell* at = &cell;
  for (; at->base != nullptr && at->stamp != at->root->stamp; at = at->base)
    stale.push_back(at);
  if (stale.size() > static_cast<size_t>(kMaxViews)) {
    FailUnsupported("expected at most " + std::to_string(kMaxViews) +
                    " views of views of a tensor that is written to");
    return {&builder(), nullptr};
  }
  if (at->load) Read(*at);
  for (; !stale.empty(); stale.pop_back()) {
    Cell& view = *stale.back();
    view.load = nullptr;
    view.value = view.read(Inside(view.base->value));
    view.stamp = view.root->stamp;
  }
  return Inside(cell.value);
}

void Machine::NoteCell(Cell& root) {
  // A journal needs no entry for a cell whose last write is after the journal's
  // start. Either the code of the journal made the tensor, which no code after
  // it can use, or the journal already has the old value.
  for (Journal* journal : journals_)
    if (root.stamp <= journal->start)
      journal->cells.emplace(&root, std::pair(root.value, root.stamp));
}

void Machine::Write(Cell& cell, Tensor value) {
  Cell* at = &cell;
  while (ok() && at->base != nullptr) {
    if (!at->write) {
      FailUnsupported(
          "expected a view whose elements lie apart in memory to write to, "
          "found one that repeats or reorders them, or that shares its memory "
          "with a tensor of another type; write to a copy (clone)");
      return;
    }
    value = at->write(Read(*at->base), value);
    at = at->base;
  }
  if (!ok()) return;
  // A weight that no code has read yet is loaded now, so that the journal
  // records its value before the write.
  Read(*at);
  NoteCell(*at);
  at->value = value;
  at->stamp = ++stamps_;
}

void Machine::BecomeView(Cell& cell, const Cell& view) {
  if (!ok() || &cell == &view) return;
  if (view.base != &cell) {
    FailUnsupported(
        "expected a result that is a view of the operand, to change the shape "
        "in place, found a copy; call the operator without the '_'");
    return;
  }
  for (const Journal* journal : journals_) {
    if (cell.made > journal->start) continue;
    FailUnsupported(
        "changing the shape of a tensor in place in a branch or loop that only "
        "the run decides on is supported for tensors made in it, found one "
        "made before it; call the operator without the '_'");
    return;
  }
  // A new cell takes over the old contents of `cell` as the base of its views.
  // Only cells made after `cell` can be its views, so only these are visited.
  Cell& base = heap_.cells.emplace_back(cell);
  if (base.root == &cell) base.root = &base;
  size_t visited = 0;
  for (auto it = heap_.cells.rbegin(); &*it != &cell; ++it, ++visited) {
    if (it->base == &cell) it->base = &base;
    if (it->root == &cell) it->root = &base;
  }
  Charge(1 + visited / 100);
  cell = view;
  cell.quantization = base.quantization;
  cell.made = ++stamps_;
}

void Machine::SetAttribute(Object& object, const std::string& name,
                           Value value) {
  const auto found = object.attributes.find(name);
  // An object does not outlive the region in which it was made. So only the
  // journals of regions inside of that one must record its attributes.
  for (size_t i = object.level; i < journals_.size(); ++i) {
    journals_[i]->attributes.emplace(std::pair(&object, name),
                                     found == object.attributes.end()
                                         ? std::nullopt
                                         : std::optional<Value>(found->second));
  }
  object.attributes[name] = std::move(value);
}

bool Machine::MayChange(size_t level, std::string_view what) {
  if (level == this->level()) return ok();
  FailUnsupported("changing a " + std::string(what) +
                  " in a branch or loop that only the run decides on is not "
                  "supported, as graphs have tensors only");
  return false;
}

void Machine::Pop() { journals_.pop_back(); }

Journal Machine::TakeBack(const Journal& journal) {
  Journal last;
  for (const auto& [cell, before] : journal.cells) {
    last.cells.emplace(cell, std::pair(cell->value, cell->stamp));
    cell->value = before.first;
    // Views may have been read after the write that is undone. A new stamp
    // makes them read again.
    cell->stamp = ++stamps_;
  }
  for (const auto& [key, before] : journal.attributes) {
    const auto found = key.first->attributes.find(key.second);
    last.attributes.emplace(key, found == key.first->attributes.end()
                                     ? std::nullopt
                                     : std::optional<Value>(found->second));
    if (before)
      key.first->attributes[key.second] = *before;
    else
      key.first->attributes.erase(key.second);
  }
  return last;
}

void Machine::Want(const Tensor& tensor, DType dtype) {
  if (tensor.value() != nullptr && !tensor.value()->name().empty())
    wanted_.emplace(tensor.value()->name(), dtype);
}

Tensor Machine::HiddenIn(const Tensor& tensor) const {
  const auto found = hidden_.find(tensor.value());
  return found == hidden_.end() ? Tensor() : found->second;
}

void Machine::SetHiddenIn(const Tensor& tensor, const Tensor& hidden) {
  if (tensor.value() != nullptr && hidden) hidden_[tensor.value()] = hidden;
}

Tensor Machine::ToTensor(const Value& value) {
  if (value.is_tensor()) return Read(*value.cell);
  if (!value.is_number()) {
    FailInvalid("expected a tensor or number, found " + Describe(value));
    return {&builder(), nullptr};
  }
  if (value.is_dynamic()) {
    const Tensor scalar = Inside(value.dynamic);
    return value.is(Value::Kind::kFloat) ? ops::Cast(scalar, DType::kF32)
                                         : scalar;
  }
  if (value.is(Value::Kind::kFloat))
    return {&builder(), builder().Scalar(value.number, DType::kF32)};
  if (value.is(Value::Kind::kBool))
    return {&builder(), builder().Scalar(value.known_number(), DType::kBool)};
  return ops::DimScalar(builder(), value.dim);
}

Dim Machine::ToDim(const Value& value) {
  if (value.is_tensor()) {
    const Tensor tensor = Read(*value.cell);
    if (!ok()) return Dim(1);
    if (tensor.rank() <= 1 && !tensor.is_float()) {
      return ToDim(Value::Dynamic(
          Value::Kind::kInt, ops::Cast(ops::Reshape(tensor, {}), DType::kI64)));
    }
  }
  if (!value.is(Value::Kind::kInt) && !value.is(Value::Kind::kBool)) {
    FailInvalid("expected an int, found " + Describe(value));
    return Dim(1);
  }
  if (!value.is_dynamic()) return value.dim;
  const Tensor scalar = ops::Cast(Inside(value.dynamic), DType::kI64);
  if (!ok()) return Dim(1);
  if (const auto known = builder().IntegerContents(scalar.value());
      known && known->size() == 1)
    return known->front();
  const std::vector<Dim> extents =
      builder().Extents(ops::Reshape(scalar, {Dim(1)}).value());
  return extents.size() == 1 ? extents[0] : Dim(1);
}

Tensor Machine::ToScalar(const Value& value) {
  if (value.is_dynamic()) return Inside(value.dynamic);
  if (value.is(Value::Kind::kFloat))
    return {&builder(), builder().Scalar(value.number, DType::kF64)};
  return ToTensor(value);
}

Value Machine::ToNumber(Value::Kind kind, const Tensor& scalar) {
  if (scalar.value() != nullptr) {
    if (const auto known = scalar.builder().ConstantContents(scalar.value());
        known && known->size() == 1) {
      const double number = known->front();
      if (kind == Value::Kind::kFloat) return Value::Float(number);
      Value value = Value::Int(Dim(static_cast<int64_t>(number)));
      value.kind = kind;
      return value;
    }
  }
  return Value::Dynamic(kind, scalar);
}

}  // namespace ember::torchscript
