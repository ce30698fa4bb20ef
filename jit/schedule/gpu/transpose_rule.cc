#include "jit/schedule/gpu/transpose_rule.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
// Largest number of an invocation's elements for which the loop over them is
// unrolled.
constexpr int64_t kMaxWrittenOut = 16;

// For each buffer whose neighbours in memory are along another axis than those
// of the results: the stages that read it.
using Across = std::map<std::string, std::set<std::string>>;

struct Square {
  // Number of the axis along which the operands are contiguous.
  int rows = -1;
  // Number of the axis along which the results are contiguous.
  int columns = -1;
  int64_t bytes = 1;  // bytes of the widest element that is copied
  Across across;
};

class Transposer {
 public:
  Transposer(const jit::GpuModel& gpu, const std::string& root,
             std::set<std::string>& done, Schedule& schedule)
      : gpu_(gpu), root_(root), done_(done), writer_(schedule) {}

  bool Run() {
    const StageShape shape(c(), writer_.StageOf(root_));
    if (gpu_.is_cpu_like || shape.stage().has_reduction() ||
        !StoresAreDistinct(c(), writer_.StageOf(root_))) {
      return false;
    }
    square_.columns = shape.spatial_count() - 1;
    if (square_.columns < 1 || !shape.StoresAlong(square_.columns) ||
        !FindAcross(root_)) {
      return false;
    }
    // Stages that are computed for the points must have the root's axes.
    for (int p = 0; p < writer_.StageOf(root_); ++p) {
      const std::string& name = c().stages[static_cast<size_t>(p)].name;
      const StageShape stage(c(), p);
      if (done_.contains(name) || stage.stage().has_reduction() ||
          stage.spatial_count() != shape.spatial_count() ||
          !IsReadInPlace(c(), name)) {
        continue;
      }
      if (!FindAcross(name)) return false;
    }
    if (square_.across.empty() || !IsWorthIt(shape)) return false;
    MakeSquares();
    return writer_.status().ok();
  }

 private:
  const Computation& c() const { return writer_.computation(); }

  // Records the buffers that the stage reads across memory (neighbouring
  // results read elements that are far apart). Returns false if these buffers
  // are contiguous along different axes.
  bool FindAcross(const std::string& name) {
    const StageShape shape(c(), writer_.StageOf(name));
    for (NodeId load : shape.loads()) {
      if (shape.StrideOf(load, square_.columns) != Stride::kOther) continue;
      int rows = square_.columns - 1;
      while (rows >= 0 && shape.StrideOf(load, rows) != Stride::kUnit) --rows;
      if (rows < 0) continue;
      if (square_.rows >= 0 && square_.rows != rows) return false;
      square_.rows = rows;
      square_.bytes = std::max<int64_t>(square_.bytes, shape.BytesOf(load));
      square_.across[c().buffers[c().pool[load].buffer].name].insert(name);
    }
    return true;
  }

  int64_t WordLanes() const {
    return std::max<int64_t>(kWordBytes / square_.bytes, 1);
  }
  int64_t Side() const { return gpu_.subgroup_size * WordLanes(); }

  // True if a square is faster: if few neighbours are read from each cache
  // line, caches are enough.
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
    const StageShape shape(c(), writer_.StageOf(root_));
    lanes_ = WordLanes();
    for (const int axis : {square_.rows, square_.columns}) {
      if (*shape.Extent(axis) % lanes_ != 0) lanes_ = 1;
    }
    const std::vector<std::string> names = writer_.LoopsOf(root_);
    const std::string& rows = names[static_cast<size_t>(square_.rows)];
    const std::string& columns = names[static_cast<size_t>(square_.columns)];
    Split(root_, rows, Side(), "_tile", "_rest");
    Split(root_, columns, Side(), "_tile", "_rest");
    std::string last = columns + "_rest", lane;
    if (lanes_ > 1) {
      Split(root_, last, lanes_, "_vector", "_lane");
      lane = last + "_lane";
      last += "_vector";
    }
    std::vector<std::string> order;
    for (const std::string& name : names) {
      const bool is_side = name == rows || name == columns;
      order.push_back(is_side ? name + "_tile" : name);
    }
    order.insert(order.end(), {rows + "_rest", last});
    if (!lane.empty()) order.push_back(lane);
    writer_.Reorder(root_, order);
    const std::string tasks =
        writer_.FuseLoops(root_, 0, names.size(), "tasks");
    writer_.Do("parallel %" + root_ + " " + tasks);
    const std::string points = writer_.FuseLoops(root_, 1, 2, "points");
    Split(root_, points, Threads(), "_round", "_item");
    order = {tasks, points + "_item", points + "_round"};
    if (!lane.empty()) order.push_back(lane);
    writer_.Reorder(root_, order);
    writer_.Do("bind %" + root_ + " " + points + "_item");
    if (IsWrittenOut())
      writer_.Do("unroll %" + root_ + " " + points + "_round");
    if (!lane.empty()) writer_.Do("vectorize %" + root_ + " " + lane);
    const std::set<std::string> joined =
        JoinPoints(gpu_, root_, points + "_round", 0, done_, writer_);
    for (const auto& [buffer, readers] : square_.across) {
      for (const std::string& reader : readers) {
        if (reader == root_ || joined.contains(reader))
          Copy(reader, buffer, tasks);
      }
    }
    // Elements that were read across memory are now neighbours in the copies,
    // so stages can read them as vectors.
    if (!lane.empty()) VectorizeJoined(root_, joined, writer_);
  }

  int64_t Threads() const {
    return std::min(gpu_.max_invocations,
                    std::max(2 * gpu_.workgroup_size, gpu_.subgroup_size));
  }
  bool IsWrittenOut() const {
    return Side() * Side() <= kMaxWrittenOut * Threads();
  }

  void Copy(const std::string& reader, const std::string& buffer,
            const std::string& tasks) {
    const std::string copy = NameOfSlice(c(), reader, buffer);
    // The primitive is refused if loads of the buffer differ: the buffer is
    // then read through caches.
    if (!writer_.Try("cache_read %" + reader + " %" + buffer + " -> " + copy))
      return;
    writer_.Do("compute_at %" + copy + " %" + root_ + " " + tasks);
    if (!writer_.status().ok()) return;
    // Each row begins one word later, so that a column's elements are in all
    // banks.
    writer_.Do("pad_rows %" + copy + " " + std::to_string(WordLanes()));
    const std::string rounds = BindTogether(copy, Threads(), lanes_, writer_);
    if (!rounds.empty() && IsWrittenOut())
      writer_.Do("unroll %" + copy + " " + rounds);
  }

  void Split(const std::string& stage, const std::string& loop, int64_t size,
             const std::string& outer, const std::string& inner) {
    writer_.Do("split %" + stage + " " + loop + " " + std::to_string(size) +
               " -> " + loop + outer + " " + loop + inner);
  }

  const jit::GpuModel& gpu_;
  const std::string root_;
  std::set<std::string>& done_;
  ScheduleWriter writer_;
  Square square_;
  int64_t lanes_ = 1;
};

}  // namespace

bool ScheduleTransposeOnGpu(const jit::GpuModel& gpu, const std::string& root,
                            std::set<std::string>& done, Schedule& schedule) {
  Schedule trial = schedule;
  std::set<std::string> trial_done = done;
  if (!Transposer(gpu, root, trial_done, trial).Run()) return false;
  schedule = std::move(trial);
  done = std::move(trial_done);
  return true;
}

}  // namespace ember::schedule
