// The state of an import: where operators are built, and what the model's code
// has written so far.
//
//   Machine machine(builder);
//   Value x = machine.NewTensor(input);
//   machine.Write(*x.cell, Relu(machine.Read(*x.cell)));   // relu_(x)
//
// Code whose run is not certain (branches on data, bodies of loops) builds
// into regions. A Trial remembers what is written meanwhile, so that it can be
// taken back and merged with the other branch.
//
// Errors stick: after the first one, values are of no use. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_MACHINE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_MACHINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder.h"
#include "compiler/graph/control_flow.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// The values, from before a stretch of code, of the tensors and attributes that
// it wrote and that were there before it.
struct Journal {
  uint64_t start = 0;  // the last stamp before it
  std::map<Cell*, std::pair<Tensor, uint64_t>> cells;
  std::map<std::pair<Object*, std::string>, std::optional<Value>> attributes;
};

// Of lists in lists: they may hold one another, and be held many times, so that
// whoever walks through them also charges for what he meets.
inline constexpr int kMostListDepth = 32;

// The strides of a row-major tensor.
Shape RowMajorStrides(const Shape& shape);

class Machine {
 public:
  explicit Machine(graph::GraphBuilder& builder) : builders_({&builder}) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Where operators are built now, and the graph around all regions.
  graph::GraphBuilder& builder() { return *builders_.back(); }
  graph::GraphBuilder& outermost() { return *builders_.front(); }
  bool ok() { return status_.ok() && builder().status().ok(); }
  Status status() { return status_.ok() ? builder().status() : status_; }
  void Fail(Status status);
  void FailInvalid(std::string message);
  void FailUnsupported(std::string message);

  // Regions, innermost last.
  void Enter(graph::Region& region);
  void Leave();  // an error inside is one outside
  size_t level() const { return builders_.size() - 1; }
  // The tensor, which may be of a graph around this region, in this region.
  Tensor Inside(const Tensor& tensor);

  Value NewTensor(Tensor tensor);
  Value NewStored(std::function<Tensor()> load);
  Value NewQuantized(Tensor integers, Quantization quantization);
  // Complex numbers, of which the last dim of `parts` has two parts.
  Value NewComplex(Tensor parts);
  Value NewView(Cell& base, Shape strides, std::function<Tensor(Tensor)> read,
                std::function<Tensor(Tensor, Tensor)> write);
  // In memory (Cell::strides).
  Shape StridesOf(Cell& cell);
  // True if the tensor's elements lie in memory row by row.
  bool IsRowMajor(Cell& cell);
  Value NewList(std::vector<Value> items);
  Value NewTuple(std::vector<Value> items);
  Value NewDict();
  Object& NewObject(std::string class_name);

  Tensor Read(Cell& cell);
  void Write(Cell& cell, Tensor value);
  void SetAttribute(Object& object, const std::string& name, Value value);
  // Whether a container may be changed here; fails if not.
  bool MayChange(size_t level, std::string_view what);

  // Counts values that are made; false, with an error, where they are too many
  // for any model.
  bool Charge(size_t count);

  // A tensor for a tensor or number; numbers are i64[], f32[] and bool[], as in
  // torch.tensor.
  Tensor ToTensor(const Value& value);
  // An int as a dim: what only the run knows becomes a symbol.
  Dim ToDim(const Value& value);
  // A scalar of the run for a number: i64[], f64[], bool[].
  Tensor ToScalar(const Value& value);
  // The number of this kind that a scalar is: known, where it is a constant.
  Value ToNumber(Value::Kind kind, const Tensor& scalar);

  // Writes from here on are noted in the journal, until it is popped.
  void Push(Journal& journal) {
    journal.start = stamps_;
    journals_.push_back(&journal);
  }
  void Pop();
  // Takes back what the journal notes; gives what was there last.
  Journal TakeBack(const Journal& journal);
  // Inputs of the model whose type turned out to be another than assumed:
  // operators that need integers, or booleans, ask for it here.
  void Want(const Tensor& tensor, DType dtype);
  const std::map<std::string, DType>& wanted() const { return wanted_; }

  // Sequences of several lengths ("nested tensors") are one tensor, with a mask
  // of the elements behind their ends; absent: the tensor is none.
  Tensor HiddenIn(const Tensor& tensor) const;
  void SetHiddenIn(const Tensor& tensor, const Tensor& hidden);

  Heap& heap() { return heap_; }
  // Constants of the outermost graph, by what says that they are the same.
  std::map<std::string, Tensor>& stored() { return stored_; }

 private:
  void NoteCell(Cell& root);

  Heap heap_;
  std::vector<graph::GraphBuilder*> builders_;
  std::vector<graph::Region*> regions_;
  std::vector<Journal*> journals_;
  std::map<std::string, DType> wanted_;
  std::map<std::string, Tensor> stored_;
  std::map<const graph::Value*, Tensor> hidden_;
  uint64_t stamps_ = 0;
  size_t charged_ = 0;
  Status status_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_MACHINE_H_
