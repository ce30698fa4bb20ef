#include "vm/interpreter/row_groups.h"

#include <algorithm>

namespace ember::vm {

using tensor::Dispatch;
using tensor::Interval;

namespace {

// A group of fewer rows than this gives up more (threads, tiles) than fusing
// gains, unless the stages have no more by themselves.
constexpr int64_t kFewRows = 16;

struct Touch {
  int stage;
  const Access* access;
  bool writes;
};

struct RowChoice {
  int64_t rows;
  int prefix;
};

// The possible row spaces of a stage, from one row to as many as it has.
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

class Grouper {
 public:
  Grouper(const Dispatch& dispatch, const PlanHeader& header,
          const std::vector<AnalyzedStage>& stages)
      : dispatch_(dispatch), header_(header), stages_(stages) {}

  std::vector<RowGroup> Run() {
    for (int i = 0; i < static_cast<int>(stages_.size()); ++i) {
      if (first_ < 0 || !TryJoin(i)) {
        Close(i);
        Open(i);
      }
    }
    Close(static_cast<int>(stages_.size()));
    for (RowGroup& group : groups_) FindTemporaries(group);
    return std::move(groups_);
  }

 private:
  void Open(int stage) {
    first_ = stage;
    rows_.clear();
    for (const RowChoice& choice : ChoicesOf(stages_[stage]))
      rows_.push_back(choice.rows);
    touches_.clear();
    AddTouches(stage, touches_);
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
    for (const RowChoice& choice : ChoicesOf(stages_[stage])) {
      if (choice.rows == rows) return choice.prefix;
    }
    return -1;
  }

  void AddTouches(int stage, std::vector<Touch>& touches) const {
    for (const Access& access : stages_[stage].analysis.accesses) {
      touches.push_back({stage, &access, false});
    }
    for (const Access& access : stages_[stage].analysis.stores) {
      touches.push_back({stage, &access, true});
    }
  }

  bool Writes(const std::vector<Touch>& touches, int buffer) const {
    return std::any_of(touches.begin(), touches.end(),
                       [buffer](const Touch& touch) {
                         return touch.writes && touch.access->buffer == buffer;
                       });
  }

  // B is packed before any row runs, so the group must not write what it reads.
  bool PackedOperandIsWritten(int stage,
                              const std::vector<Touch>& touches) const {
    if (!stages_[stage].contraction) return false;
    StripSpec spec;
    spec.values = {stages_[stage].contraction->b};
    for (const Access* access :
         CollectUses(stages_[stage].analysis, spec).loads) {
      if (Writes(touches, access->buffer)) return true;
    }
    return false;
  }

  bool AllStayInRow(const std::vector<Touch>& touches, int64_t rows) const {
    for (const Touch& touch : touches) {
      if (!Writes(touches, touch.access->buffer)) continue;
      const int prefix = PrefixOf(touch.stage, rows);
      if (prefix < 0 ||
          !StaysInRow(stages_[touch.stage].analysis, prefix, rows,
                      *touch.access, header_.elements[touch.access->buffer])) {
        return false;
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
    std::vector<Touch> touches = touches_;
    AddTouches(stage, touches);
    if (PackedOperandIsWritten(stage, touches_)) return false;
    std::vector<int64_t> common;
    for (int64_t rows : rows_) {
      if (PrefixOf(stage, rows) >= 0 && AllStayInRow(touches, rows))
        common.push_back(rows);
    }
    if (common.empty()) return false;
    const int64_t alone =
        std::min(rows_.back(), ChoicesOf(stages_[stage]).back().rows);
    if (common.back() < std::min(alone, kFewRows)) return false;
    rows_ = std::move(common);
    touches_ = std::move(touches);
    return true;
  }

  // Temporaries that only this group touches.
  void FindTemporaries(RowGroup& group) const {
    std::vector<Touch> inside;
    for (int i = group.first; i < group.last; ++i) AddTouches(i, inside);
    std::vector<Touch> outside;
    for (int i = 0; i < static_cast<int>(stages_.size()); ++i) {
      if (i < group.first || i >= group.last) AddTouches(i, outside);
    }
    const auto touches = [](const std::vector<Touch>& list, int buffer) {
      return std::any_of(list.begin(), list.end(),
                         [buffer](const Touch& touch) {
                           return touch.access->buffer == buffer;
                         });
    };
    for (size_t b = 0; b < dispatch_.buffers.size(); ++b) {
      const int buffer = static_cast<int>(b);
      if (dispatch_.buffers[b].kind != tensor::BufferKind::kTemporary) continue;
      if (!touches(inside, buffer) || touches(outside, buffer)) continue;
      std::vector<Touch> own;
      for (const Touch& touch : inside) {
        if (touch.access->buffer == buffer) own.push_back(touch);
      }
      if (group.rows > 1 && AllStayInRow(own, group.rows))
        group.temporaries.push_back(buffer);
    }
  }

  const Dispatch& dispatch_;
  const PlanHeader& header_;
  const std::vector<AnalyzedStage>& stages_;
  std::vector<RowGroup> groups_;
  // The group being formed: its first stage, the row spaces still possible, all
  // its accesses.
  int first_ = -1;
  std::vector<int64_t> rows_;
  std::vector<Touch> touches_;
};

}  // namespace

std::vector<RowGroup> FormRowGroups(const Dispatch& dispatch,
                                    const PlanHeader& header,
                                    const std::vector<AnalyzedStage>& stages) {
  return Grouper(dispatch, header, stages).Run();
}

}  // namespace ember::vm
