#include "jit/schedule/gpu/matrix_factors.h"

#include "jit/schedule/core/computation.h"
#include "jit/schedule/gpu/points.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

// Number of bytes that an invocation copies at once.
constexpr int64_t kCopiedBytes = 16;
// Bytes of a word of a memory bank, and number of banks from which the lanes of
// a matrix row read.
constexpr int64_t kBankBytes = 4;
constexpr int64_t kBanksOfRow = 8;
// Number of slots of a factor that is copied one iteration ahead.
constexpr int64_t kSlotsOneAhead = 2;

int64_t SizeInSlice(const MatrixPlan& plan, size_t axis) {
  return static_cast<int>(axis) == plan.steps ? plan.slice : plan.SizeOf(axis);
}

// Returns the number of neighbouring elements of a load that an invocation
// copies at once: a vector if whole vectors fill each slice, otherwise 1.
int64_t LanesOfCopy(const MatrixPlan& plan, const Computation& c,
                    const ComputationStage& stage, NodeId load,
                    const std::optional<RowOfLoad>& row) {
  if (!row) return 1;
  const auto extent = c.pool.IntegerConstant(stage.axes[row->axis].extent);
  const int64_t lanes = kCopiedBytes / DTypeByteSize(c.pool[load].type);
  // Either all lanes of a vector are padded or none, so no element of the copy
  // may be outside of the buffer's last dim.
  const int64_t size = SizeInSlice(plan, row->axis);
  const bool is_whole = row->is_inside && extent && *extent % size == 0 &&
                        size % lanes == 0 && row->start % lanes == 0;
  return is_whole ? lanes : 1;
}

MatrixFactor FactorOfLoad(const MatrixPlan& plan, const Computation& c,
                          const ComputationStage& stage, NodeId load) {
  const std::optional<RowOfLoad> row = RowOf(c, stage, load);
  const DType type = c.pool[load].type;
  const int64_t elements = row ? SizeInSlice(plan, row->axis) : 0;
  MatrixFactor factor{
      .buffer = {c.buffers[c.pool[load].buffer].name},
      .lanes = LanesOfCopy(plan, c, stage, load, row),
      .is_constant = IsConstantSlice(c, stage, load),
      .type = type,
      .row_bytes = elements * DTypeByteSize(type),
      .is_of_columns = tensor::DependsOn(
          c.pool, load, stage.axes[static_cast<size_t>(plan.columns)].variable),
      .lies_along_steps = row && row->axis == static_cast<size_t>(plan.steps)};
  // If the product reads panels of rows, a panel contains the rows of
  // consecutive lines, so the copy has its dims in the order lines, rows.
  if (plan.has_row_panels && plan.line_tile > 1 && !factor.is_of_columns &&
      factor.lies_along_steps) {
    factor.dims = DimsByLines(c, stage, load, plan.lines, plan.rows);
  }
  return factor;
}

// Returns the padding of a slice's rows in elements. If rows are an even number
// of 16 bytes long, they begin in few of the banks from which a subgroup reads
// a matrix at once. Panels need no padding.
int64_t RowPadding(const MatrixPlan& plan, const MatrixFactor& factor) {
  if (plan.IsWide() && (factor.is_of_columns || plan.has_row_panels)) return 0;
  // Matrices of 4 bytes with the other layout: four lanes read a row, and eight
  // a column, so neighbouring rows must be 8 banks apart.
  const int64_t bytes = DTypeByteSize(factor.type);
  if (bytes == kBankBytes && !factor.lies_along_steps) {
    const bool is_whole = factor.row_bytes % (kBanksOfRow * bytes) == 0;
    const bool is_odd = factor.row_bytes / (kBanksOfRow * bytes) % 2 != 0;
    return is_whole && !is_odd ? kBanksOfRow : 0;
  }
  const bool is_even = factor.row_bytes % (2 * kCopiedBytes) == 0;
  return is_even ? kCopiedBytes / bytes : 0;
}

}  // namespace

std::vector<MatrixFactor> FindMatrixFactors(const MatrixPlan& plan,
                                            const StageRef& product,
                                            const ScheduleWriter& writer) {
  const Computation& c = writer.computation();
  const ComputationStage& stage = writer.StageAt(product);
  std::vector<MatrixFactor> factors;
  ForEachLoad(c.pool, stage.values, [&](NodeId load) {
    factors.push_back(FactorOfLoad(plan, c, stage, load));
  });
  return factors;
}

std::vector<SliceCopy> CopyFactors(const MatrixPlan& plan,
                                   const std::vector<MatrixFactor>& factors,
                                   const LoopRef& slices, int64_t threads,
                                   ScheduleWriter& writer) {
  const StageRef& product = slices.stage;
  std::vector<SliceCopy> copies;
  for (const MatrixFactor& factor : factors) {
    StageRef copy{factor.buffer.name};
    if (!factor.is_gathered) {
      copy = {NameOfSlice(writer.computation(), product, factor.buffer)};
      writer.Do(CacheRead{.reader = product,
                          .buffer = factor.buffer,
                          .dims = factor.dims,
                          .copy = copy.name});
    }
    writer.Do(
        ComputeAt{.producer = copy, .loop = factor.around.value_or(slices)});
    // If an error occurred, some load cannot be read from slices, and the
    // caller tries another schedule.
    if (!writer.status().ok()) return copies;
    const int64_t padding = RowPadding(plan, factor);
    if (padding != 0) writer.Do(PadRows{.stage = copy, .elements = padding});
    const std::optional<LoopRef> rounds =
        BindTogether(copy, threads, factor.lanes, writer);
    const bool is_ahead = factor.around && factor.is_of_columns;
    if (!plan.is_double && !is_ahead) continue;
    copies.push_back(
        {.stage = copy,
         // A copy with one point has no loop to unroll.
         .rounds = rounds.value_or(LoopRef{copy, ""}),
         .by_registers = plan.by_registers,
         .slots = is_ahead ? kSlotsOneAhead : plan.slots,
         // Copies of wide products start after the arithmetic (`late`), and
         // then have two more iterations to end. With only one, all would wait
         // for the copies.
         .is_late = !is_ahead && plan.IsWide() && plan.slots > 2,
         .has_spare = !is_ahead && plan.GoesOn(),
         .is_constant = factor.is_constant,
         .bytes_at_once = factor.lanes * DTypeByteSize(factor.type)});
  }
  return copies;
}

}  // namespace ember::schedule
