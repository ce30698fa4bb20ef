#include "vm/interpreter/row_groups.h"

#include <algorithm>
#include <utility>

namespace ember::vm {

using tensor::Dispatch;
using tensor::Interval;

namespace {

// Smallest number of rows to which stages are fused. With fewer rows, fewer
// threads and smaller tiles cost more than fusing gains, unless the stages have
// no more rows even without fusing.
constexpr int64_t kFewRows = 16;

struct Touch {
  int stage;
  const Access* access;
};

struct RowChoice {
  int64_t rows;
  int prefix;
};

// Returns the possible choices of a stage's rows, each with the number of
// leading axes that form the rows: from one row to the largest possible number.
// A stage whose points must run in order has only one row.
std::vector<RowChoice> ChoicesOf(const AnalyzedStage& stage) {
  const int limit = stage.contraction ? stage.contraction->first_n
                                      : stage.analysis.spatial_count;
  std::vector<RowChoice> choices = {{1, 0}};
  if (stage.analysis.needs_order) return choices;
  for (int i = 0; i < limit; ++i) {
    const int64_t rows = choices.back().rows * stage.analysis.axes[i].extent;
    if (rows == choices.back().rows) {
      choices.back().prefix = i + 1;
    } else {
      choices.push_back({rows, i + 1});
    }
  }
  return choices;
}

bool StaysInRow(const StageAnalysis& analysis, int prefix, int64_t rows,
                const Access& access, int64_t elements) {
  if (!access.dynamic.empty() || elements % rows != 0) return false;
  const int64_t row_size = elements / rows;
  int64_t stride = row_size;
  for (int i = prefix - 1; i >= 0; --i) {
    if (analysis.axes[i].extent == 1) continue;
    if (access.offset.coefficients[i] != stride) return false;
    stride *= analysis.axes[i].extent;
  }
  Interval rest = Interval::Of(access.offset.constant);
  for (size_t i = prefix; i < analysis.axes.size(); ++i) {
    if (access.offset.coefficients[i] == 0) continue;
    rest = rest +
           Interval::Of(access.offset.coefficients[i]) *
               Interval{0, std::max<int64_t>(analysis.axes[i].extent - 1, 0)};
  }
  return rest.Within({0, row_size - 1});
}

// Forms the groups of stages. A file may have thousands of stages and buffers,
// so each access to a buffer is examined only a few times.
class Grouper {
 public:
  Grouper(const Dispatch& dispatch, const PlanHeader& header,
          const std::vector<AnalyzedStage>& stages)
      : dispatch_(dispatch),
        header_(header),
        stages_(stages),
        touches_(dispatch.buffers.size()),
        last_write_(dispatch.buffers.size(), -1),
        last_look_(dispatch.buffers.size(), 0) {
    for (int i = 0; i < count(); ++i) {
      choices_.push_back(ChoicesOf(stages_[i]));
      for (const Access& access : stages_[i].analysis.accesses)
        touches_[access.buffer].push_back({i, &access});
      for (const Access& access : stages_[i].analysis.stores)
        touches_[access.buffer].push_back({i, &access});
    }
  }

  std::vector<RowGroup> Run() {
    for (int i = 0; i < count(); ++i) {
      if (first_ < 0 || !TryJoin(i)) {
        Close(i);
        Open(i);
      }
    }
    Close(count());
    FindTemporaries();
    return std::move(groups_);
  }

 private:
  int count() const { return static_cast<int>(stages_.size()); }

  void Open(int stage) {
    first_ = stage;
    rows_.clear();
    for (const RowChoice& choice : choices_[stage])
      rows_.push_back(choice.rows);
    NoteWrites(stage);
  }

  void Close(int end) {
    if (first_ < 0 || end == first_) return;
    RowGroup group;
    group.first = first_;
    group.last = end;
    group.rows = rows_.back();
    for (int i = first_; i < end; ++i)
      group.prefix.push_back(PrefixOf(i, group.rows));
    groups_.push_back(std::move(group));
  }

  int PrefixOf(int stage, int64_t rows) const {
    for (const RowChoice& choice : choices_[stage]) {
      if (choice.rows == rows) return choice.prefix;
    }
    return -1;
  }

  void NoteWrites(int stage) {
    for (const Access& access : stages_[stage].analysis.stores)
      last_write_[access.buffer] = stage;
  }

  // True if the group that is being formed writes the buffer.
  bool IsWritten(int buffer) const { return last_write_[buffer] >= first_; }

  // True if the stage has a packed operand B that reads a buffer which the
  // group writes. B is packed before any row runs, so such a stage cannot join
  // the group.
  bool PackedOperandIsWritten(int stage) const {
    if (!stages_[stage].contraction) return false;
    StripSpec spec;
    spec.values = {stages_[stage].contraction->b};
    for (const Access* access :
         CollectUses(stages_[stage].analysis, spec).loads) {
      if (IsWritten(access->buffer)) return true;
    }
    return false;
  }

  bool Stays(const Touch& touch, int64_t rows) const {
    const int prefix = PrefixOf(touch.stage, rows);
    return prefix >= 0 &&
           StaysInRow(stages_[touch.stage].analysis, prefix, rows,
                      *touch.access, header_.elements[touch.access->buffer]);
  }

  // True if, with `rows` rows, each access of the stages first_ to `stage` to
  // buffers that these stages write stays in one row. It must be true for the
  // stages before `stage` already.
  bool StillStay(int stage, int64_t rows) {
    const StageAnalysis& analysis = stages_[stage].analysis;
    for (const Access& access : analysis.accesses) {
      if (IsWritten(access.buffer) && !Stays({stage, &access}, rows))
        return false;
    }
    ++looks_;
    for (const Access& access : analysis.stores) {
      if (!Stays({stage, &access}, rows)) return false;
      if (IsWritten(access.buffer) ||
          std::exchange(last_look_[access.buffer], looks_) == looks_) {
        continue;
      }
      // No earlier stage of the group writes the buffer. So the earlier stages'
      // accesses, which only read it, have not been checked yet, and are
      // checked here.
      const std::vector<Touch>& touches = touches_[access.buffer];
      auto touch = std::ranges::lower_bound(touches, first_, {}, &Touch::stage);
      for (; touch != touches.end() && touch->stage <= stage; ++touch) {
        if (!Stays(*touch, rows)) return false;
      }
    }
    return true;
  }

  bool TryJoin(int stage) {
    const StageAnalysis& analysis = stages_[stage].analysis;
    if (analysis.needs_order || stages_[first_].analysis.needs_order ||
        analysis.SpatialPoints() == 0 ||
        stages_[first_].analysis.SpatialPoints() == 0) {
      return false;
    }
    if (PackedOperandIsWritten(stage)) return false;
    std::vector<int64_t> common;
    for (int64_t rows : rows_) {
      const bool stay = PrefixOf(stage, rows) >= 0 && StillStay(stage, rows) &&
                        // The accesses of the group's first stage are checked
                        // when the second stage joins, because a group of one
                        // stage needs no check.
                        (stage != first_ + 1 || StillStay(first_, rows));
      if (stay) common.push_back(rows);
    }
    if (common.empty()) return false;
    const int64_t alone = std::min(rows_.back(), choices_[stage].back().rows);
    if (common.back() < std::min(alone, kFewRows)) return false;
    rows_ = std::move(common);
    NoteWrites(stage);
    return true;
  }

  // Adds to each group the temporary buffers that only stages of the group
  // access, each access within one row. Groups of one row get none.
  void FindTemporaries() {
    std::vector<RowGroup*> group_of;  // for each stage, the group that contains
                                      // it
    for (RowGroup& group : groups_)
      group_of.resize(static_cast<size_t>(group.last), &group);
    for (size_t b = 0; b < dispatch_.buffers.size(); ++b) {
      const std::vector<Touch>& touches = touches_[b];
      if (dispatch_.buffers[b].kind != tensor::BufferKind::kTemporary ||
          touches.empty()) {
        continue;
      }
      RowGroup& group = *group_of[touches.front().stage];
      // No later stage accesses the buffer if the last access is in the group,
      // because accesses are sorted by stage.
      if (group.rows <= 1 || touches.back().stage >= group.last) continue;
      const bool stay =
          last_write_[b] < 0 ||
          std::ranges::all_of(
              touches,
              [&](const Touch& touch) { return Stays(touch, group.rows); });
      if (stay) group.temporaries.push_back(static_cast<int>(b));
    }
  }

  const Dispatch& dispatch_;
  const PlanHeader& header_;
  const std::vector<AnalyzedStage>& stages_;
  // for each stage, the numbers of rows that it may have
  std::vector<std::vector<RowChoice>> choices_;
  // for each buffer, the accesses to it, sorted by stage
  std::vector<std::vector<Touch>> touches_;
  std::vector<RowGroup> groups_;
  // The group that is being formed: its first stage, and the numbers of rows
  // that all of its stages may have.
  int first_ = -1;
  std::vector<int64_t> rows_;
  // For each buffer: the last stage so far that writes to it, and the number of
  // the call of StillStay that examined its accesses last, so that one call
  // examines them only once.
  std::vector<int> last_write_;
  std::vector<int64_t> last_look_;
  int64_t looks_ = 0;
};

}  // namespace

std::vector<RowGroup> FormRowGroups(const Dispatch& dispatch,
                                    const PlanHeader& header,
                                    const std::vector<AnalyzedStage>& stages) {
  return Grouper(dispatch, header, stages).Run();
}

}  // namespace ember::vm
