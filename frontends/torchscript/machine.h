// The state of an import: the graph builders, and the values that the model's
// code has written so far.
//
//   Machine machine(builder);
//   Value x = machine.NewTensor(input);
//   machine.Write(*x.cell, Relu(machine.Read(*x.cell)));   // relu_(x)
//
// Code that may not run (branches on data, bodies of loops) builds into
// regions. A Journal records the values from before the writes of such code, so
// that the writes can be undone, and merged with those of the other branch.
//
// Errors stay: after the first one, values must not be used. Not thread-safe.
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
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// Records what some code overwrote, so that it can be undone: the old values of
// tensors and attributes that existed before that code.
struct Journal {
  uint64_t start = 0;  // stamp of the last write before the code began
  std::map<Cell*, std::pair<Tensor, uint64_t>> cells;
  std::map<std::pair<Object*, std::string>, std::optional<Value>> attributes;
};

// Largest nesting depth of lists. Lists may contain each other, and may be
// contained many times; so code that walks through them must also call Charge
// for the items that it visits.
inline constexpr int kMaxListDepth = 32;

// Returns the strides of a row-major tensor.
Shape RowMajorStrides(const Shape& shape);

class Machine {
 public:
  explicit Machine(graph::GraphBuilder& builder) : builders_({&builder}) {}
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // builder() returns the graph or region to which operators are added now,
  // outermost() the graph that contains all regions.
  graph::GraphBuilder& builder() { return *builders_.back(); }
  graph::GraphBuilder& outermost() { return *builders_.front(); }
  bool ok() { return status_.ok() && builder().status().ok(); }
  Status status() { return status_.ok() ? builder().status() : status_; }
  void Fail(Status status);
  void FailInvalid(std::string message);
  void FailUnsupported(std::string message);

  // Enters a region: operators are added to it until Leave. Regions nest.
  void Enter(graph::Region& region);
  // Leaves the region. An error of the region becomes the error of the machine.
  void Leave();
  size_t level() const { return builders_.size() - 1; }
  // Returns a tensor for use in this region; the tensor may belong to an
  // enclosing graph.
  Tensor Inside(const Tensor& tensor);

  Value NewTensor(Tensor tensor);
  Value NewStored(std::function<Tensor()> load);
  Value NewQuantized(Tensor integers, Quantization quantization);
  // Makes a tensor of complex numbers. The last dim of `parts` has their real
  // and imaginary parts.
  Value NewComplex(Tensor parts);
  Value NewView(Cell& base, Shape strides, std::function<Tensor(Tensor)> read,
                std::function<Tensor(Tensor, Tensor)> write);
  // Returns the strides of the tensor in memory (Cell::strides).
  Shape StridesOf(Cell& cell);
  // True if the tensor's elements are in row-major order in memory, without
  // gaps.
  bool IsRowMajor(Cell& cell);
  Value NewList(std::vector<Value> items);
  Value NewTuple(std::vector<Value> items);
  Value NewDict();
  Object& NewObject(std::string class_name);

  Tensor Read(Cell& cell);
  void Write(Cell& cell, Tensor value);
  // Gives a tensor the shape and strides of `view`, a view of it, as x.t_()
  // does. No element moves in memory: other views stay as they are. Fails if
  // the tensor was made before a branch or loop that is being executed and that
  // depends on data.
  void BecomeView(Cell& cell, const Cell& view);
  void SetAttribute(Object& object, const std::string& name, Value value);
  // Returns true if the current region may change a list, dict or object that
  // was made at region depth `level`; else fails. `what` names it in the error.
  bool MayChange(size_t level, std::string_view what);

  // Counts `count` values that the code makes or visits. Returns false, with an
  // error, if there are more in all than any model needs.
  bool Charge(size_t count);

  // Converts a tensor or number to a tensor. Numbers become i64[], f32[] and
  // bool[], as by torch.tensor.
  Tensor ToTensor(const Value& value);
  // Converts an int, or a tensor of one integer, to a dim. If the int is only
  // known at run time, it becomes a symbol.
  Dim ToDim(const Value& value);
  // Converts an int, float or bool to a scalar of the graph: i64[], f64[] or
  // bool[].
  Tensor ToScalar(const Value& value);
  // Converts a scalar of the graph to a number of this kind (int, float or
  // bool). The number is known if the scalar is a constant.
  Value ToNumber(Value::Kind kind, const Tensor& scalar);

  // Starts to record the old values of all writes in `journal`; Pop ends that.
  void Push(Journal& journal) {
    journal.start = stamps_;
    journals_.push_back(&journal);
  }
  void Pop();
  // Restores the values that the journal recorded. Returns a journal with the
  // values that were undone, for merging them later.
  Journal TakeBack(const Journal& journal);
  // Records that an operator needs another type for an input of the model than
  // the assumed one. It is called before the error; the import is then tried
  // again with this type.
  void Want(const Tensor& tensor, DType dtype);
  const std::map<std::string, DType>& wanted() const { return wanted_; }

  // A nested tensor holds sequences of several lengths in one tensor, with a
  // mask that is true for the elements after the end of each sequence. HiddenIn
  // returns the mask; absent if the tensor is not nested.
  Tensor HiddenIn(const Tensor& tensor) const;
  void SetHiddenIn(const Tensor& tensor, const Tensor& hidden);

  Heap& heap() { return heap_; }
  // The tensors of the archive that are constants of the outermost graph, by a
  // key. Tensors with the same elements have the same key and share a constant.
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
