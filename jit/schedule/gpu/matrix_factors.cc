#include "jit/schedule/gpu/matrix_factors.h"

#include "jit/schedule/core/computation.h"
#include "jit/schedule/gpu/points.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

// Number of bytes that an invocation copies at once.
constexpr int64_t kCopiedBytes = 16;
// Bytes of one bank of the workgroup's memory, and number of banks from which a
// row of a matrix is loaded at once.
constexpr int64_t kBankBytes = 4;
constexpr int64_t kBanksOfRow = 8;
// Number of ring slots of a factor that is copied exactly one iteration ahead.
constexpr int64_t kSlotsOneAhead = 2;

int64_t SizeInSlice(const MatrixPlan& plan, size_t axis) {
  return static_cast<int>(axis) == plan.steps ? plan.slice : plan.SizeOf(axis);
}

// Returns the number of neighbouring elements of a load that an invocation
// copies at once: those of a vector if slices consist of whole aligned vectors,
// otherwise 1.
int64_t LanesOfCopy(const MatrixPlan& plan, const Computation& c,
                    const ComputationStage& stage, NodeId load,
                    const std::optional<RowOfLoad>& row) {
  if (!row) return 1;
  const auto extent = c.pool.IntegerConstant(stage.axes[row->axis].extent);
  const int64_t lanes = kCopiedBytes / DTypeByteSize(c.pool[load].type);
  // Copying by vectors requires that no element of the slice is outside of the
  // buffer's last dim, because then either all lanes of a vector are padding or
  // none.
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
  // If the rows' factor is read from panels and a tile has several lines, a
  // panel contains rows of consecutive lines. So the dims of the copy are
  // lines, then rows.
  if (plan.has_row_panels && plan.line_tile > 1 && !factor.is_of_columns &&
      factor.lies_along_steps) {
    factor.dims = DimsByLines(c, stage, load, plan.lines, plan.rows);
  }
  return factor;
}

// Returns the padding of a slice's rows, in elements, with which the rows of a
// matrix begin in different banks. Without it they would share banks if rows
// are an even number of 16 bytes long. Panels need no padding.
int64_t RowPadding(const MatrixPlan& plan, const MatrixFactor& factor) {
  if (plan.IsWide() && (factor.is_of_columns || plan.has_row_panels)) return 0;
  // Matrices of 4-byte elements whose sum runs down the columns: four lanes
  // load from a row and eight from a column, so neighbouring rows must begin 8
  // banks apart.
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
    // The writer has an error if a load cannot be read from slices. The caller
    // then tries another schedule.
    if (!writer.status().ok()) return copies;
    const int64_t padding = RowPadding(plan, factor);
    if (padding != 0) writer.Do(PadRows{.stage = copy, .elements = padding});
    const std::optional<LoopRef> rounds =
        BindTogether(copy, threads, factor.lanes, writer);
    const bool is_ahead = factor.around && factor.is_of_columns;
    if (!plan.is_double && !is_ahead) continue;
    copies.push_back(
        {.stage = copy,
         // If the copy has one point, there is no loop to unroll, and the
         // loop's name is empty.
         .rounds = rounds.value_or(LoopRef{copy, ""}),
         .by_registers = plan.by_registers,
         .slots = is_ahead ? kSlotsOneAhead : plan.slots,
         // The copies of a wide product start after the iteration's arithmetic
         // (`late`). With more than two slots they still have two iterations to
         // complete. With two slots they would have one, and all warps would
         // wait for them.
         .is_late = !is_ahead && plan.IsWide() && plan.slots > 2,
         .has_spare = !is_ahead && plan.GoesOn(),
         .is_constant = factor.is_constant,
         .bytes_at_once = factor.lanes * DTypeByteSize(factor.type)});
  }
  return copies;
}

}  // namespace ember::schedule
