// The common part of all operators' import contexts: the graph builder, errors,
// constants, and checks of values that a model states. A format's own context
// adds its operands and attributes.
//
//   class LayerContext : public ops::ImportContext { … };
//
//   void ImportSplit(LayerContext& c) {
//     const int axis = c.Axis(c.config().Integer("axis", -1), x.rank());
//     const auto extent = c.Extent(x, axis);
//     if (!extent || !c.CheckRange("parts", parts, 1, *extent)) return;
//     …
//
// Errors stay in the graph builder and name the node. After a failure a
// function may return or continue: the values that it builds are not used. Not
// thread-safe; lives as long as the call.
#ifndef EMBER_FRONTENDS_OPS_IMPORT_CONTEXT_H_
#define EMBER_FRONTENDS_OPS_IMPORT_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/ops/tensor.h"
#include "frontends/ops/windows.h"

namespace ember::ops {

class ImportContext {
 public:
  explicit ImportContext(graph::GraphBuilder& builder) : builder_(builder) {}
  ImportContext(const ImportContext&) = delete;
  ImportContext& operator=(const ImportContext&) = delete;
  virtual ~ImportContext() = default;

  graph::GraphBuilder& builder() { return builder_; }

  // These functions record an error in the builder. The error names the
  // builder's origin, that is, the current node.
  void Fail(const Status& status);
  void FailInvalid(std::string message);
  void FailUnsupported(std::string message);
  bool ok() const { return builder_.status().ok(); }

  Tensor Wrap(graph::Value* value) { return {&builder_, value}; }
  Tensor Scalar(double value, DType dtype = DType::kF32) {
    return Wrap(builder_.Scalar(value, dtype));
  }
  // Returns the values as a constant vector.
  template <typename T>
  Tensor Vector(DType dtype, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    return Wrap(builder_.Constant(
        dtype, {static_cast<int64_t>(values.size())},
        graph::ConstantData::Copy({bytes, values.size() * sizeof(T)})));
  }

  // Returns an axis in 0 … rank - 1; fails if it is out of range.
  int Axis(int64_t axis, int rank);
  // Returns axes in ascending order, each once (axes.h).
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank);
  // Returns false, with an error, unless the operand is present and has a rank
  // in [minimum, maximum]. `what`: for example "input 0".
  bool CheckRank(const Tensor& operand, std::string_view what, int minimum,
                 int maximum = kMaxRank);
  // Returns false, with an error, unless the value is in [minimum, maximum].
  bool CheckRange(std::string_view what, int64_t value, int64_t minimum,
                  int64_t maximum = kMaxWindow);
  bool CheckPositive(std::string_view what, int64_t value) {
    return CheckRange(what, value, 1);
  }

  // These functions return extents that must be known when compiling: that of
  // dim `axis`, and those of the dims [first, last). Nullopt, with an error, if
  // an extent is not known.
  std::optional<int64_t> Extent(const Tensor& x, int axis);
  std::optional<std::vector<int64_t>> Extents(const Tensor& x, int first,
                                              int last);

  // Returns the contents of an operand, which must be known when compiling;
  // they may hold symbols. Fails, and returns nullopt, if they depend on the
  // model's data or if the operand is absent. `what`: for example "axes (input
  // 1)".
  std::optional<Shape> Contents(const Tensor& operand, std::string_view what);
  std::optional<std::vector<int64_t>> ConstantIntegers(const Tensor& operand,
                                                       std::string_view what);
  std::optional<std::vector<double>> ConstantNumbers(const Tensor& operand,
                                                     std::string_view what);
  // Returns integers of an operand of rank 0 or 1, none of which may be
  // negative: the contents if they are known when compiling, else symbols that
  // are read when the program runs.
  std::optional<Shape> Sizes(Tensor operand, std::string_view what);

 protected:
  // Records the error that the value of this operand must be known when
  // compiling but is not.
  virtual void FailDataDependent(const Tensor& operand, std::string_view what);

 private:
  bool CheckPresent(const Tensor& operand, std::string_view what);

  graph::GraphBuilder& builder_;
};

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_IMPORT_CONTEXT_H_
