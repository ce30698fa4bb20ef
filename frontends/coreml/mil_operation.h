// One operation of an ML program (MIL): its inputs by name, and its results.
//
//   void ImportSoftmax(MilOperation& o) {
//     const Tensor x = o.Input("x");
//     o.SetOutput(0, Softmax(x, o.Axis("axis", -1, x.rank())));
//   }
//
// Errors and lifetime as for ImportContext. Source: coremltools, the reference
// of MIL's operators (iOS 15 to 18).
#ifndef EMBER_FRONTENDS_COREML_MIL_OPERATION_H_
#define EMBER_FRONTENDS_COREML_MIL_OPERATION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/import_context.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

using ops::Apply;
using ops::ApplyAll;
using ops::Concat;
using ops::Dim;
using ops::IotaVector;
using ops::kMaxRank;
using ops::Opcode;
using ops::Shape;
using ops::Tensor;

// A value of an ML program: a tensor, a text, or a list of texts. A list of
// tensors is one tensor, whose first dim is the list.
struct MilValue {
  Tensor tensor = {};
  std::string text = {};
  std::vector<std::string> texts = {};
  // Logical type of the tensor, such as "string".
  std::string logical_type = {};
  // True for a list that may grow: a write past its end extends it.
  bool grows = false;
  bool is_lost = false;   // scope.h
  bool is_state = false;  // True for a state that is kept between runs.
};

using MilInputs = std::map<std::string, std::vector<MilValue>, std::less<>>;

class MilOperation : public ops::ImportContext {
 public:
  MilOperation(graph::GraphBuilder& builder, MilInputs inputs, size_t outputs)
      : ImportContext(builder), inputs_(std::move(inputs)), outputs_(outputs) {}

  bool Has(std::string_view name) const { return inputs_.contains(name); }
  // Returns the tensor of an input. If it is missing, fails, and the result is
  // absent.
  Tensor Input(std::string_view name);
  std::vector<Tensor> Inputs(std::string_view name);
  // Returns all tensors of the input; empty if it is missing.
  std::vector<Tensor> All(std::string_view name) const;
  // True if the input is a list that may grow.
  bool Grows(std::string_view name) const;

  // These functions return the constant value of an input; `otherwise` if the
  // input is missing.
  std::vector<int64_t> Integers(std::string_view name,
                                std::vector<int64_t> otherwise = {});
  int64_t Integer(std::string_view name, int64_t otherwise);
  double Number(std::string_view name, double otherwise);
  bool Flag(std::string_view name, bool otherwise) {
    return Integer(name, otherwise ? 1 : 0) != 0;
  }
  std::string Text(std::string_view name, std::string otherwise);
  // Returns a list of texts; empty for any other value.
  std::vector<std::string> Texts(std::string_view name) const;

  int Axis(std::string_view name, int64_t otherwise, int rank);
  // Returns the axes in the input `name`; all axes of the rank if the input is
  // missing.
  std::vector<int64_t> Axes(std::string_view name, int rank);
  // Returns false, with an error, unless the input is there and has a rank in
  // [minimum, maximum].
  bool CheckRank(std::string_view input, int minimum, int maximum = kMaxRank) {
    return ImportContext::CheckRank(Input(input), input, minimum, maximum);
  }
  // Returns false, with an error, unless `value` is in [minimum, maximum].
  bool CheckRange(std::string_view what, int64_t value, int64_t minimum = 1,
                  int64_t maximum = ops::kMaxWindow) {
    return ImportContext::CheckRange(what, value, minimum, maximum);
  }

  int output_count() const { return static_cast<int>(outputs_.size()); }
  void SetOutput(int index, Tensor value, std::string logical_type = "") {
    if (index < output_count())
      outputs_[static_cast<size_t>(index)] = {
          .tensor = value, .logical_type = std::move(logical_type)};
  }
  void SetGrows(int index, bool grows) {
    if (index < output_count())
      outputs_[static_cast<size_t>(index)].grows = grows;
  }
  const std::vector<MilValue>& outputs() const { return outputs_; }

 private:
  MilInputs inputs_;
  std::vector<MilValue> outputs_;
};

// Returns the packed number with this index. Each number has `bits` bits, at
// most 8. The number must exist. Numbers begin with the lowest bit of the first
// byte.
uint32_t BitsAt(std::span<const uint8_t> packed, int64_t index, int64_t bits);

using MilFunction = void (*)(MilOperation& o);
struct MilRow {
  std::string_view name;
  MilFunction import = nullptr;
};

// Each of these functions returns the rows of one family of operations, and is
// defined in the family's file.
std::span<const MilRow> MilCompressed();
std::span<const MilRow> MilBlockwise();
std::span<const MilRow> MilElementwise();
std::span<const MilRow> MilIndexing();
std::span<const MilRow> MilLayers();
std::span<const MilRow> MilLists();
std::span<const MilRow> MilMovement();
std::span<const MilRow> MilRecurrent();

// Returns the row of an operation; null for unknown operations.
const MilRow* FindMil(std::string_view name);

// Operations that have no row in the table. They need the blocks of an
// operation or the states of the model, so the importer of programs handles
// them itself.
inline constexpr std::string_view kMilCond = "cond", kMilWhile = "while_loop",
                                  kMilConst = "const",
                                  kMilReadState = "read_state",
                                  kMilUpdateState = "coreml_update_state";
inline constexpr std::string_view kMilWithoutRow[] = {
    kMilCond, kMilConst, kMilUpdateState, kMilReadState, kMilWhile};

// Returns the names of all operations, with and without a row.
std::vector<std::string_view> MilNames();

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_MIL_OPERATION_H_
