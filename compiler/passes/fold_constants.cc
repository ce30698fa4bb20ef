#include "compiler/passes/fold_constants.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "base/mapped_pages.h"
#include "base/parallel.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/operation_dispatch.h"
#include "compiler/passes/check_divisors.h"
#include "compiler/passes/narrow_products.h"
#include "compiler/passes/rewriter.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch_cost.h"
#include "vm/interpreter/plan.h"

namespace ember::compiler {
namespace {

using graph::ConstantData;
using graph::Operation;
using graph::TensorType;

// Number of bytes by which the result of one folded operation may exceed a
// small multiple of its operands' size.
constexpr int64_t kFreeGrowthBytes = 64 * 1024;
// Constants of at least this many bytes are not transposed when compiling,
// because the transposed copy would take much memory.
constexpr int64_t kLargeConstant = int64_t{1} << 20;

int64_t ByteSize(const TensorType& type) {
  return ElementCount(type.shape).constant() * DTypeByteSize(type.dtype);
}

bool IsConstantOperation(const Operation* operation) {
  return operation != nullptr && operation->name() == "constant";
}

bool IsOfBytes(const Operation& operation) {
  return std::ranges::all_of(operation.results(), [](const auto& result) {
    return IsInteger(result->dtype()) && DTypeByteSize(result->dtype()) == 1;
  });
}

// True if the operation transposes large weights that only contractions read.
// Contractions read operands in any order (sink_transposes.h), so no copy is
// needed, and weights in a file stay there.
bool IsReadInAnyOrder(const Operation& operation) {
  const graph::Value* result = operation.result();
  return operation.name() == "transpose" && !result->is_graph_output() &&
         IsConstant(result->shape()) &&
         ByteSize(result->type()) >= kLargeConstant &&
         std::ranges::all_of(result->users(), [](const Operation* user) {
           return user->name() == "contract";
         });
}

// Smallest number of bytes of a constant that counts as packed weights.
// Operations on a smaller one are folded.
constexpr int64_t kPackedWeights = int64_t{4} << 10;

// True if the operation takes some bytes of each block of packed weights: a
// slice of the last dim of a constant u8 [rows, blocks, bytes of a block]. All
// that follows would be folded, too, and be larger than the blocks. The
// dispatches that read the weights unpack them instead, so that weights in a
// file stay there.
bool IsFieldOfBlocks(const Operation& operation) {
  if (operation.name() != "slice") return false;
  const graph::Value* blocks = operation.operand(0);
  return blocks->rank() >= 3 && blocks->dtype() == DType::kU8 &&
         IsConstant(blocks->shape()) &&
         ByteSize(blocks->type()) >= kPackedWeights &&
         operation.result()->shape().back() != blocks->shape().back();
}

// True if the operation widens large constants of narrow floats, such as the
// scales of blocks of weights, which only elementwise operations with operands
// that are not constant read: these widen the elements as they read them, and
// memory is read half as much. Products with such constants are handled by
// narrow_weights.h.
bool WidensLargeScales(const Operation& operation) {
  constexpr int64_t kLarge = int64_t{64} << 10;
  if (!WidensNumbers(operation) || !IsFloat(operation.result()->dtype()) ||
      !IsConstant(operation.operand(0)->shape()) ||
      ByteSize(operation.operand(0)->type()) < kLarge) {
    return false;
  }
  const auto& users = operation.result()->users();
  return std::ranges::all_of(users, [&](const Operation* user) {
    return user->record().trait == graph::OperatorTrait::kElementwise &&
           std::ranges::any_of(user->operands(),
                               [&](const graph::Value* value) {
                                 return value != operation.result() &&
                                        !IsConstantOperation(value->producer());
                               });
  });
}

bool ShouldFold(const Operation& operation) {
  if (IsConstantOperation(&operation) ||
      operation.record().trait == graph::OperatorTrait::kProgram) {
    return false;
  }
  if (IsReadInAnyOrder(operation) || IsFieldOfBlocks(operation) ||
      WidensLargeScales(operation)) {
    return false;
  }
  // A widened constant that only contractions read is not folded if it is an
  // integer, because contractions read narrow integers directly. Widened floats
  // are folded and become narrow again later (narrow_weights.h), after scales
  // may have been multiplied into them.
  if (WidensForProducts(operation) && IsInteger(operation.result()->dtype())) {
    return false;
  }
  if (DividesByZero(operation)) return false;
  // Bytes that hold several elements of a few bits each are not unpacked here,
  // as the result would be larger than the operand. The dispatch that reads the
  // elements as numbers unpacks them (JoinConstants in
  // compiler/lowering/fusion.cc).
  const int64_t most_growth = IsOfBytes(operation) ? 1 : 2;
  int64_t operand_bytes = 0;
  for (const graph::Value* operand : operation.operands()) {
    if (!IsConstantOperation(operand->producer())) return false;
    operand_bytes += ByteSize(operand->type());
  }
  int64_t result_bytes = 0;
  for (const auto& result : operation.results()) {
    if (!IsConstant(result->shape())) return false;
    result_bytes += ByteSize(result->type());
  }
  return result_bytes <= most_growth * operand_bytes + kFreeGrowthBytes;
}

// The remaining budget for folding in a model. Initially constants may grow by
// 4 MiB plus their own size, and the work may take about a second plus 64
// points for each byte of constants, which is enough for changes of layout or
// type of large weights.
class Allowance {
 public:
  explicit Allowance(const graph::Graph& graph) {
    std::set<const uint8_t*> counted;
    AddConstants(graph, counted);
  }
  // Charges the budget for folding an operation: the points to evaluate, and
  // the bytes by which its results are larger than its operands. If the budget
  // is too small, returns false and charges nothing.
  bool Take(const Operation& operation, int64_t points) {
    int64_t bytes = 0;
    for (const auto& result : operation.results())
      bytes += ByteSize(result->type());
    // A set, because the memory of an operand that occurs several times counts
    // once.
    const std::set<const graph::Value*> operands(operation.operands().begin(),
                                                 operation.operands().end());
    for (const graph::Value* operand : operands)
      bytes -= ByteSize(operand->type());
    if (bytes > bytes_left_ || points > points_left_) return false;
    bytes_left_ -= std::max<int64_t>(bytes, 0);
    points_left_ -= points;
    return true;
  }

 private:
  static constexpr int64_t kPointsPerByte = 64;

  // Adds the bytes of a graph's constants. Constants that regions have captured
  // share their bytes and are counted once.
  void AddConstants(const graph::Graph& graph,
                    std::set<const uint8_t*>& counted) {
    for (const Operation* operation : graph.Operations()) {
      for (const auto& region : operation->regions())
        AddConstants(*region, counted);
      if (!IsConstantOperation(operation)) continue;
      const auto& data = operation->attributes().Get<ConstantData>("value");
      if (!counted.insert(data.bytes.data()).second) continue;
      const auto size = static_cast<int64_t>(data.bytes.size());
      bytes_left_ += size;
      points_left_ += kPointsPerByte * size;
    }
  }

  int64_t bytes_left_ = int64_t{4} << 20;
  int64_t points_left_ = int64_t{1} << 28;
};

// Runs the definition and returns one buffer per result; ResourceExhausted if
// the budget does not suffice.
StatusOr<std::vector<ConstantData>> Evaluate(const Operation& operation,
                                             Allowance& allowance) {
  EMBER_ASSIGN_OR_RETURN(tensor::Dispatch dispatch,
                         graph::DispatchOf(operation));
  if (!dispatch.parameters.empty()) return UnimplementedError("symbolic");
  EMBER_ASSIGN_OR_RETURN(const tensor::ConcreteHeader header,
                         tensor::ConcreteHeader::Evaluate(dispatch, {}));
  if (!allowance.Take(operation, tensor::PointsOf(dispatch, header)))
    return ResourceExhaustedError("more than folding may do");
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::Plan> plan,
                         vm::Plan::Make(dispatch, {}, {}));
  std::vector<void*> buffers;
  for (const graph::Value* operand : operation.operands()) {
    const auto& data =
        operand->producer()->attributes().Get<ConstantData>("value");
    buffers.push_back(const_cast<uint8_t*>(data.bytes.data()));
  }
  std::vector<ConstantData> values;
  for (const auto& result : operation.results()) {
    const int64_t bytes = ByteSize(result->type());
    std::shared_ptr<uint8_t[]> storage(
        new (std::align_val_t(64))
            uint8_t[static_cast<size_t>(std::max<int64_t>(bytes, 1))](),
        [](uint8_t* p) { ::operator delete[](p, std::align_val_t(64)); });
    buffers.push_back(storage.get());
    values.push_back({storage, {storage.get(), static_cast<size_t>(bytes)}});
  }
  SerialRunner runner;
  EMBER_RETURN_IF_ERROR(plan->Run(buffers, runner));
  // Pages of large operands that are mapped from a file are released, because
  // the program may not need the operands any more.
  for (const graph::Value* operand : operation.operands()) {
    const auto& data =
        operand->producer()->attributes().Get<ConstantData>("value");
    if (data.bytes.size() >= kLargeConstant) ReleaseMappedPages(data.bytes);
  }
  return values;
}

Status Fold(graph::Graph& graph, Allowance& allowance) {
  Rewriter rewriter(graph);
  for (Operation* operation : graph.Operations()) {
    for (const auto& region : operation->regions())
      EMBER_RETURN_IF_ERROR(Fold(*region, allowance));
    if (!ShouldFold(*operation)) continue;
    StatusOr<std::vector<ConstantData>> values =
        Evaluate(*operation, allowance);
    if (!values.ok()) {
      // An index out of range in a constant gather is an error of the model.
      // The run must fail, not the compilation, as another path may be taken.
      continue;
    }
    rewriter.StartAt(operation);
    for (size_t i = 0; i < values->size(); ++i) {
      graph::Value* result = operation->result(static_cast<int>(i));
      EMBER_ASSIGN_OR_RETURN(graph::Value * constant,
                             rewriter.Constant(result->type(), (*values)[i]));
      constant->set_name(result->name());
      graph.ReplaceAllUses(result, constant);
    }
    graph.Erase(operation);
  }
  return OkStatus();
}

}  // namespace

Status FoldConstants(graph::Graph& graph) {
  Allowance allowance(graph);
  return Fold(graph, allowance);
}

}  // namespace ember::compiler
