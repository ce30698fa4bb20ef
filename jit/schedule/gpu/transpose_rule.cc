#include "jit/schedule/gpu/transpose_rule.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/gpu/points.h"
#include "jit/schedule/gpu/slices.h"
#include "jit/schedule/gpu/vector_rule.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

constexpr int64_t kWordBytes = 4;
// The loop over the elements that an invocation copies is unrolled if it has at
// most this many iterations.
constexpr int64_t kMaxWrittenOut = 16;

// For each buffer that is contiguous along another axis than the results: the
// stages that read it.
using Across = std::map<BufferRef, std::set<StageRef>>;

struct Square {
  // number of the axis along which the operands are contiguous
  int rows = -1;
  // number of the axis along which the results are contiguous
  int columns = -1;
  int64_t bytes = 1;  // number of bytes of the widest element that is copied
  Across across;
};

class Transposer {
 public:
  Transposer(const jit::GpuModel& gpu, const StageRef& root,
             std::set<StageRef>& done, Schedule& schedule)
      : gpu_(gpu), root_(root), done_(done), writer_(schedule) {}

  bool Run() {
    const StageShape shape(c(), writer_.NumberOf(root_));
    if (gpu_.is_cpu_like || shape.stage().has_reduction() ||
        !StoresAreDistinct(c(), writer_.NumberOf(root_))) {
      return false;
    }
    square_.columns = shape.spatial_count() - 1;
    if (square_.columns < 1 || !shape.StoresAlong(square_.columns) ||
        !FindAcross(root_)) {
      return false;
    }
    // Looks for transposed reads in the stages that are computed for the root's
    // points, too. These must have the root's axes.
    for (int p = 0; p < writer_.NumberOf(root_); ++p) {
      const StageRef stage{c().stages[static_cast<size_t>(p)].name};
      const StageShape other(c(), p);
      if (done_.contains(stage) || other.stage().has_reduction() ||
          other.spatial_count() != shape.spatial_count() ||
          !IsReadInPlace(c(), stage)) {
        continue;
      }
      if (!FindAcross(stage)) return false;
    }
    if (square_.across.empty() || !IsWorthIt(shape)) return false;
    MakeSquares();
    return writer_.status().ok();
  }

 private:
  const Computation& c() const { return writer_.computation(); }

  // Records the buffers that the stage reads across memory: they are contiguous
  // along another axis than the results. Returns false if two such buffers are
  // contiguous along different axes.
  bool FindAcross(const StageRef& stage) {
    const StageShape shape(c(), writer_.NumberOf(stage));
    for (NodeId load : shape.loads()) {
      if (shape.StrideOf(load, square_.columns) != Stride::kOther) continue;
      int rows = square_.columns - 1;
      while (rows >= 0 && shape.StrideOf(load, rows) != Stride::kUnit) --rows;
      if (rows < 0) continue;
      if (square_.rows >= 0 && square_.rows != rows) return false;
      square_.rows = rows;
      square_.bytes = std::max<int64_t>(square_.bytes, shape.BytesOf(load));
      const BufferRef buffer{c().buffers[c().pool[load].buffer].name};
      square_.across[buffer].insert(stage);
    }
    return true;
  }

  int64_t WordLanes() const {
    return std::max<int64_t>(kWordBytes / square_.bytes, 1);
  }
  int64_t Side() const { return gpu_.subgroup_size * WordLanes(); }

  // True if copying squares of the operands is faster, the squares take at most
  // half of the workgroup's memory, and there are enough points to keep the
  // device busy. The axes must be long: if few elements are read from each
  // cache line, the caches serve transposed reads as well.
  bool IsWorthIt(const StageShape& shape) const {
    const auto rows = shape.Extent(square_.rows);
    const auto columns = shape.Extent(square_.columns);
    const int64_t bytes = static_cast<int64_t>(square_.across.size()) * Side() *
                          (Side() + WordLanes()) * square_.bytes;
    return rows && columns && 2 * *rows >= Side() && 2 * *columns >= Side() &&
           2 * bytes <= gpu_.shared_bytes &&
           shape.LikelyPoints(0, shape.spatial_count()) >=
               2 * gpu_.busy_invocations;
  }

  void MakeSquares() {
    const StageShape shape(c(), writer_.NumberOf(root_));
    lanes_ = WordLanes();
    for (const int axis : {square_.rows, square_.columns}) {
      if (*shape.Extent(axis) % lanes_ != 0) lanes_ = 1;
    }
    std::vector<LoopRef> order = writer_.LoopsOf(root_);
    const size_t count = order.size();
    LoopRef& rows = order[static_cast<size_t>(square_.rows)];
    LoopRef& columns = order[static_cast<size_t>(square_.columns)];
    const auto [row_tile, row] = writer_.Split(rows, Side(), "_tile", "_rest");
    auto [column_tile, last] = writer_.Split(columns, Side(), "_tile", "_rest");
    rows = row_tile;
    columns = column_tile;
    std::optional<LoopRef> lane;
    if (lanes_ > 1) {
      const auto vectors = writer_.Split(last, lanes_, "_vector", "_lane");
      last = vectors.outer;
      lane = vectors.inner;
    }
    order.insert(order.end(), {row, last});
    if (lane) order.push_back(*lane);
    writer_.Reorder(order);
    const LoopRef tasks = writer_.FuseLoops(root_, 0, count, "tasks");
    writer_.Do(Parallel{tasks});
    const LoopRef points = writer_.FuseLoops(root_, 1, 2, "points");
    const auto [round, item] =
        writer_.Split(points, Threads(), "_round", "_item");
    order = {tasks, item, round};
    if (lane) order.push_back(*lane);
    writer_.Reorder(order);
    writer_.Do(Bind{item});
    if (IsWrittenOut()) writer_.Do(Unroll{round});
    if (lane) writer_.Do(Vectorize{*lane});
    const std::set<StageRef> joined =
        JoinPoints(gpu_, root_, round, 0, done_, writer_);
    for (const auto& [buffer, readers] : square_.across) {
      for (const StageRef& reader : readers) {
        if (reader == root_ || joined.contains(reader))
          Copy(reader, buffer, tasks);
      }
    }
    // In the copies the elements for neighbouring points are contiguous, so
    // stages can load them as vectors.
    if (lane) VectorizeJoined(root_, joined, writer_);
  }

  int64_t Threads() const {
    return std::min(gpu_.max_invocations,
                    std::max(2 * gpu_.workgroup_size, gpu_.subgroup_size));
  }
  bool IsWrittenOut() const {
    return Side() * Side() <= kMaxWrittenOut * Threads();
  }

  void Copy(const StageRef& reader, const BufferRef& buffer,
            const LoopRef& tasks) {
    const StageRef copy{NameOfSlice(c(), reader, buffer)};
    // The copy is refused if the reader's loads of the buffer have different
    // indices. The reader then loads from the buffer itself.
    const CacheRead read{.reader = reader, .buffer = buffer, .copy = copy.name};
    if (!writer_.Try(read)) return;
    writer_.Do(ComputeAt{.producer = copy, .loop = tasks});
    if (!writer_.status().ok()) return;
    // Each row of the copy is padded by a word, so that the elements of a
    // column are in different banks.
    writer_.Do(PadRows{.stage = copy, .elements = WordLanes()});
    const auto rounds = BindTogether(copy, Threads(), lanes_, writer_);
    if (rounds && IsWrittenOut()) writer_.Do(Unroll{*rounds});
  }

  const jit::GpuModel& gpu_;
  const StageRef root_;
  std::set<StageRef>& done_;
  ScheduleWriter writer_;
  Square square_;
  int64_t lanes_ = 1;
};

}  // namespace

bool ScheduleTransposeOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                            std::set<StageRef>& done, Schedule& schedule) {
  Schedule trial = schedule;
  std::set<StageRef> trial_done = done;
  if (!Transposer(gpu, root, trial_done, trial).Run()) return false;
  schedule = std::move(trial);
  done = std::move(trial_done);
  return true;
}

}  // namespace ember::schedule
