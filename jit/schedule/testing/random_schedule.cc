#include "jit/schedule/testing/random_schedule.h"

#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/online_softmax.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/random_matrix_lines.h"
#include "tensor/testing/random_values.h"

namespace ember::schedule {
namespace {

// Writes lines. Most operands are chosen so that the line may be legal; some
// are arbitrary.
class LineWriter : private tensor::RandomChoices {
 public:
  LineWriter(uint64_t seed, const Schedule& schedule)
      : RandomChoices(seed), schedule_(schedule) {}

  // Writes a random line. Marked loops cannot be split or fused, so marks come
  // in the second half of the lines.
  std::string Line(bool with_marks) {
    struct Generator {
      std::string_view primitive;
      std::string (LineWriter::*write)();
    };
    // clang-format off
    static constexpr Generator kGenerators[] = {
#define EMBER_ROW(name, function, ...) {name, &LineWriter::function},
      EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW
    };
    // clang-format on
    const Generator* generator = nullptr;
    // Looks for convolutions and for products of a softmax first: only few
    // stages have these forms, and a stage whose loops have changed no longer
    // does.
    if (!looked_for_convolution_) {
      looked_for_convolution_ = true;
      if (Convolution() >= 0 && !Chance(4)) return "winograd " + Winograd();
      if (ProductOfSoftmax() >= 0 && !Chance(4))
        return "online_softmax " + OnlineSoftmax();
    }
    // Products of narrow integers need several lines before they can be
    // tensorized.
    if (!looked_for_dots_) {
      looked_for_dots_ = true;
      if (!Chance(4)) PlanDots();
      if (planned_.empty() && !Chance(4))
        planned_ = PlanRandomMatrices(computation(), *this, next_name_);
      if (planned_.empty() && Chance(3)) PlanDoubleBuffer();
    }
    if (!planned_.empty()) {
      std::string line = planned_.front();
      planned_.erase(planned_.begin());
      return line;
    }
    do {
      generator = &kGenerators[Below(std::size(kGenerators))];
    } while (!with_marks && IsMark(generator->primitive) && !Chance(10));
    return std::string(generator->primitive) + " " +
           (this->*generator->write)();
  }

 private:
  static bool IsMark(std::string_view primitive) {
    return primitive == "unroll" || primitive == "vectorize" ||
           primitive == "parallel" || primitive == "bind" ||
           primitive == "tensorize" || primitive == "multiply_matrices";
  }

  // --- operands ---

  const Computation& computation() const { return schedule_.computation(); }
  std::string AnyFactor() {
    static constexpr const char* kFactors[] = {"1", "2", "3", "4",
                                               "5", "8", "16"};
    if (Chance(60)) return Chance(2) ? "0" : "64";
    return kFactors[Below(std::size(kFactors))];
  }
  int AnyStage() {
    return Below(static_cast<int>(computation().stages.size()));
  }
  // Returns a random stage, with at least `loops` loops if there is one.
  int AnyStage(size_t loops) {
    int stage = AnyStage();
    for (int i = 0; i < 5 && schedule_.plan(stage).order.size() < loops; ++i)
      stage = AnyStage();
    return stage;
  }
  std::string Stage(int stage) const {
    return "%" + computation().stages[stage].name;
  }
  std::string LoopAt(int stage, size_t position) const {
    const StagePlan& plan = schedule_.plan(stage);
    if (position >= plan.order.size()) return "none";
    return plan.loops[plan.order[position]].name;
  }
  std::string AnyLoop(int stage) {
    const size_t count = schedule_.plan(stage).order.size();
    return count == 0
               ? "none"
               : LoopAt(stage,
                        static_cast<size_t>(Below(static_cast<int>(count))));
  }
  std::string InnermostLoop(int stage) const {
    return LoopAt(stage, schedule_.plan(stage).order.size() - 1);
  }
  std::string AnyBuffer() { return "%" + Pick(computation().buffers).name; }
  // Returns a buffer that the stage reads, if there is one.
  const ComputationBuffer* ReadBuffer(int stage) {
    std::vector<const ComputationBuffer*> read;
    for (size_t i = 0; i < computation().buffers.size(); ++i) {
      if (Reads(computation(), stage, static_cast<uint32_t>(i)))
        read.push_back(&computation().buffers[i]);
    }
    return read.empty() ? nullptr : Pick(read);
  }
  // Returns a name that is new in all stages, in most cases.
  std::string NewName() {
    if (Chance(80)) return AnyLoop(AnyStage());
    return "r" + std::to_string(next_name_++);
  }
  std::string Results(int count) {
    std::string text = " ->";
    for (int i = 0; i < count; ++i) text += " " + NewName();
    return text;
  }
  // Returns the names of two loops, which are neighbours in most cases.
  std::string TwoLoops(int stage) {
    const int count = static_cast<int>(schedule_.plan(stage).order.size());
    if (count < 2 || Chance(10)) return AnyLoop(stage) + " " + AnyLoop(stage);
    const size_t first = static_cast<size_t>(Below(count - 1));
    return LoopAt(stage, first) + " " + LoopAt(stage, first + 1);
  }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1],
                items[static_cast<size_t>(Below(static_cast<int>(i)))]);
  }

  // --- One function per row of the table: writes the operands after the
  // primitive's name. ---

  std::string Split() {
    const int stage = AnyStage(1);
    return Stage(stage) + " " + AnyLoop(stage) + " " + AnyFactor() + Results(2);
  }

  std::string Tile() {
    const int stage = AnyStage(2);
    return Stage(stage) + " " + TwoLoops(stage) + " " + AnyFactor() + " " +
           AnyFactor() + Results(4);
  }

  std::string Fuse() {
    const int stage = AnyStage(2);
    return Stage(stage) + " " + TwoLoops(stage) + Results(1);
  }

  std::string Reorder() {
    const int stage = AnyStage(2);
    std::vector<std::string> loops;
    for (size_t i = 0; i < schedule_.plan(stage).order.size(); ++i)
      loops.push_back(LoopAt(stage, i));
    Shuffle(loops);
    if (loops.size() > 2 && Chance(2)) loops.resize(loops.size() - 1);
    if (!loops.empty() && Chance(40)) loops.push_back(loops[0]);
    std::string text = Stage(stage);
    for (const std::string& loop : loops) text += " " + loop;
    return text;
  }

  std::string Unroll() {
    const int stage = AnyStage(1);
    return Stage(stage) + " " + AnyLoop(stage);
  }

  std::string Vectorize() {
    const int stage = AnyStage(1);
    return Stage(stage) + " " +
           (Chance(4) ? AnyLoop(stage) : InnermostLoop(stage));
  }

  std::string Parallel() {
    const int stage = AnyStage(1);
    return Stage(stage) + " " + (Chance(4) ? AnyLoop(stage) : LoopAt(stage, 0));
  }

  std::string Bind() {
    const int stage = AnyStage(1);
    return Stage(stage) + " " + AnyLoop(stage);
  }

  std::string Peel() {
    const int stage = AnyStage(1);
    const StagePlan& plan = schedule_.plan(stage);
    std::vector<std::string> outer;
    for (int loop : plan.order) {
      if (plan.loops[loop].origin == Loop::Origin::kOuter)
        outer.push_back(plan.loops[loop].name);
    }
    return Stage(stage) + " " +
           (outer.empty() || Chance(20) ? AnyLoop(stage) : Pick(outer));
  }

  std::string ComputeAt() {
    const int producer = AnyStage();
    const std::vector<int> consumers = ConsumersOf(computation(), producer);
    const int consumer =
        consumers.empty() || Chance(3) ? AnyStage() : Pick(consumers);
    return Stage(producer) + " " + Stage(consumer) + " " + AnyLoop(consumer);
  }

  std::string CacheRead() {
    const int stage = AnyStage();
    const ComputationBuffer* const buffer = ReadBuffer(stage);
    return Stage(stage) + " " +
           (buffer == nullptr || Chance(10) ? AnyBuffer()
                                            : "%" + buffer->name) +
           TypeOfCopy() +
           (buffer == nullptr || Chance(2) ? "" : DimsOf(*buffer)) + Results(1);
  }

  // Returns the buffer's dims in a random order, as operands.
  std::string DimsOf(const ComputationBuffer& buffer) {
    std::vector<size_t> dims;
    while (dims.size() < buffer.extents.size()) dims.push_back(dims.size());
    Shuffle(dims);
    std::string text;
    for (const size_t dim : dims) text += " " + std::to_string(dim);
    return text;
  }

  std::string TypeOfCopy() {
    constexpr const char* kTypes[] = {"i16", "i32", "i64", "f32", "f64"};
    return Chance(4) ? std::string(" ") + kTypes[Below(5)] : "";
  }

  // Writes a double_buffer line for a stage that is computed in the loop of
  // another one, if there is one.
  std::string DoubleBuffer() {
    int stage = AnyStage();
    for (int i = 0; i < 5 && schedule_.plan(stage).attach_stage < 0; ++i)
      stage = AnyStage();
    return Stage(stage) + (Chance(4) ? " registers" : "");
  }

  std::string PadRows() {
    int stage = AnyStage();
    for (int i = 0; i < 5 && schedule_.plan(stage).attach_stage < 0; ++i)
      stage = AnyStage();
    return Stage(stage) + " " + std::to_string(1 + Below(9));
  }

  // Plans a copy of a buffer that a stage reads, in one of the stage's loops.
  // The invocations load it together, an iteration ahead.
  void PlanDoubleBuffer() {
    const int stage = AnyStage(1);
    const StagePlan& plan = schedule_.plan(stage);
    const ComputationBuffer* const buffer = ReadBuffer(stage);
    if (buffer == nullptr || plan.order.empty()) return;
    const std::string at = " " + Stage(stage) + " ";
    const std::string copy = NewName();
    std::string loop = AnyLoop(stage);
    if (Chance(2)) {
      const std::string outer = NewName(), inner = NewName();
      planned_.push_back("split" + at + loop + " " + (Chance(2) ? "2" : "3") +
                         " -> " + outer + " " + inner);
      loop = outer;
    }
    planned_.push_back("cache_read" + at + "%" + buffer->name + " -> " + copy);
    planned_.push_back("compute_at %" + copy + at + loop);
    const bool by_registers = Chance(2);
    std::string dim = "c0";
    const std::string on_copy = " %" + copy + " ";
    for (size_t d = 1; d < buffer->extents.size(); ++d) {
      const std::string fused = NewName();
      planned_.push_back("fuse" + on_copy + dim + " c" + std::to_string(d) +
                         " -> " + fused);
      dim = fused;
    }
    if (!buffer->extents.empty()) {
      const std::string round = NewName(), item = NewName();
      planned_.push_back("split" + on_copy + dim + " " +
                         (Chance(2) ? "4" : "3") + " -> " + round + " " + item);
      planned_.push_back("bind" + on_copy + item);
      if (by_registers) planned_.push_back("unroll" + on_copy + round);
    }
    const std::string in_slots = Chance(2)   ? "async 3"
                                 : Chance(2) ? "async 2"
                                             : "async 4";
    planned_.push_back("double_buffer" + on_copy +
                       (by_registers ? "registers"
                        : Chance(2)  ? in_slots + (Chance(3) ? " late" : "")
                                     : ""));
    // Sometimes invocations also share the innermost loop of the stage that
    // reads the copy.
    if (Chance(2)) planned_.push_back("bind" + at + InnermostLoop(stage));
  }

  std::string Pack() {
    const int stage = AnyStage();
    const ComputationBuffer* buffer = ReadBuffer(stage);
    if (buffer == nullptr || Chance(10)) buffer = &Pick(computation().buffers);
    std::vector<std::string> parts;
    for (size_t d = 0; d < buffer->extents.size(); ++d) {
      const std::string dim = std::to_string(d);
      if (Chance(2)) {
        parts.push_back(dim);
        continue;
      }
      const std::string factor = AnyFactor();
      parts.push_back(dim + "/" + factor);
      parts.push_back(dim + "%" + (Chance(20) ? AnyFactor() : factor));
    }
    Shuffle(parts);
    if (!parts.empty() && Chance(30)) parts.pop_back();
    std::string text = Stage(stage) + " %" + buffer->name;
    text += TypeOfCopy();
    for (const std::string& part : parts) text += " " + part;
    return text + Results(1);
  }

  // Returns a stage that is a sum of products, if there is one.
  int Product() {
    const auto is_product = [&](int stage) {
      const ComputationStage& computed =
          computation().stages[static_cast<size_t>(stage)];
      return computed.combiner == tensor::Combiner::kSum &&
             computation().pool[computed.values[0]].opcode ==
                 tensor::Opcode::kMultiply;
    };
    int stage = AnyStage();
    for (int i = 0; i < 5 && !is_product(stage); ++i) stage = AnyStage();
    return stage;
  }

  std::string PadReduction() {
    const int stage = Product();
    return Stage(stage) + " " +
           (Chance(8) ? AnyLoop(stage) : InnermostLoop(stage)) + " " +
           AnyFactor();
  }

  std::string Tensorize() {
    const int stage = Product();
    return Stage(stage) + " " +
           (Chance(8) ? AnyLoop(stage) : InnermostLoop(stage));
  }

  std::string CacheWrite() { return Stage(AnyStage()) + Results(1); }

  // Plans dot products for a stage %acc[i, j] = sum(k) i32(%a[i, k]) *
  // i32(%b[j, k]), if there is one: sums of 2 or 4 products, sometimes in
  // lanes.
  void PlanDots() {
    using tensor::Opcode;
    const Computation& c = computation();
    for (const ComputationStage& stage : c.stages) {
      if (stage.combiner != tensor::Combiner::kSum || stage.axes.size() != 3)
        continue;
      const tensor::Node& product = c.pool[stage.values[0]];
      if (product.opcode != Opcode::kMultiply || product.type != DType::kI32)
        continue;
      std::vector<std::string> buffers;
      for (NodeId factor : product.operands) {
        const tensor::Node& cast = c.pool[factor];
        if (cast.opcode != Opcode::kCast) continue;
        const tensor::Node& load = c.pool[cast.operands[0]];
        if (load.opcode == Opcode::kLoad && load.operands.size() == 2 &&
            load.operands[1] == stage.axes[2].variable) {
          buffers.push_back(c.buffers[load.buffer].name);
        }
      }
      if (buffers.size() != 2) continue;
      const std::string at = " %" + stage.name + " ";
      const std::string count = Chance(2) ? "2" : "4";
      const std::string i = stage.axes[0].name, j = stage.axes[1].name,
                        k = stage.axes[2].name;
      planned_.push_back("pad" + at + k + " " + count);
      for (size_t n = 0; n < 2; ++n) {
        std::string layout = count == "2" && Chance(2) ? " i16" : "";
        const tensor::Interval values =
            c.buffers[static_cast<size_t>(c.FindBuffer(buffers[n]))].values;
        if (values.Within({-64, 64}) && !Chance(3)) layout += " -64..64";
        layout += n == 1 ? " 0/8 1/" + count + " 0%8 1%" + count
                         : " 0 1/" + count + " 1%" + count;
        planned_.push_back("pack" + at + "%" + buffers[n] + layout + " -> " +
                           NewName());
      }
      const std::string step = NewName(), dot = NewName();
      planned_.push_back("split" + at + k + " " + count + " -> " + step + " " +
                         dot);
      if (Chance(3)) {
        planned_.push_back("tensorize" + at + dot);
        return;
      }
      const std::string block = NewName(), lane = NewName();
      planned_.push_back("split" + at + j + " " + (Chance(2) ? "8" : "4") +
                         " -> " + block + " " + lane);
      std::string order = "reorder" + at + i;
      for (const std::string& loop : {block, step, lane, dot})
        order += " " + loop;
      planned_.push_back(order);
      planned_.push_back("tensorize" + at + dot);
      planned_.push_back("vectorize" + at + lane);
      return;
    }
  }

  // Writes a multiply_matrices line: it names a loop for the subgroups and the
  // innermost three loops, the last of which combines.
  std::string MultiplyMatrices() {
    const int stage = Product();
    const size_t count = schedule_.plan(stage).order.size();
    std::string text = Stage(stage) + " " + AnyLoop(stage);
    for (size_t i = 3; i > 0; --i)
      text += " " + (Chance(8) ? AnyLoop(stage) : LoopAt(stage, count - i));
    return text;
  }

  // Returns a stage that may be a convolution; -1 if there is none.
  int Convolution() const {
    const auto& stages = computation().stages;
    for (size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].spatial_count == 4 && stages[i].axes.size() == 7)
        return static_cast<int>(i);
    }
    return -1;
  }

  std::string Winograd() {
    const int convolution = Convolution();
    const int stage = convolution < 0 || Chance(8) ? AnyStage() : convolution;
    return Stage(stage) + " " +
           (Chance(8)   ? AnyFactor()
            : Chance(2) ? "2"
                        : "4") +
           Results(3);
  }

  // Returns the last stage that is the product of a softmax; -1 if there is
  // none.
  int ProductOfSoftmax() const {
    for (int i = static_cast<int>(computation().stages.size()); i-- > 0;) {
      if (MatchSoftmaxOfProduct(schedule_, i).ok()) return i;
    }
    return -1;
  }

  std::string OnlineSoftmax() {
    const int product = ProductOfSoftmax();
    if (product < 0 || Chance(8))
      return Stage(AnyStage()) + " " + AnyFactor() + Results(2);
    const int64_t length = MatchSoftmaxOfProduct(schedule_, product)->length;
    // In most cases the block's size divides the rows.
    const bool are_whole = !Chance(3);
    std::vector<int64_t> blocks;
    for (int64_t block = 1; block <= length; ++block) {
      if (!are_whole || length % block == 0) blocks.push_back(block);
    }
    const std::string block =
        blocks.empty() || Chance(8)
            ? AnyFactor()
            : std::to_string(blocks[static_cast<size_t>(
                  Below(static_cast<int>(blocks.size())))]);
    return Stage(product) + " " + block + (Chance(2) ? " skip" : "") +
           Results(2);
  }

  std::string Inline() { return Stage(AnyStage()); }

  // Writes a line that cuts a spatial axis at a random place.
  std::string Cut() {
    const int stage = AnyStage(1);
    const ComputationStage& cut = computation().stages[stage];
    if (cut.spatial_count == 0) return Stage(stage) + " none 1" + Results(1);
    const ComputationAxis& axis = cut.axes[Below(cut.spatial_count)];
    const int64_t extent =
        computation().pool.IntegerConstant(axis.extent).value_or(2);
    const int64_t first =
        extent < 1 || Chance(20) ? 1 : 1 + Below(static_cast<int>(extent));
    return Stage(stage) + " " + axis.name + " " + std::to_string(first) +
           Results(1);
  }

  // Returns a stage with a reduction, if there is one, and one of its
  // reductions.
  std::pair<int, std::string> AnyReduction() {
    int stage = AnyStage();
    for (int i = 0; i < 5 && !computation().stages[stage].has_reduction(); ++i)
      stage = AnyStage();
    const auto& axes = computation().stages[stage].axes;
    const size_t spatial =
        static_cast<size_t>(computation().stages[stage].spatial_count);
    const size_t first = Chance(20) ? 0 : std::min(spatial, axes.size());
    if (first >= axes.size()) return {stage, "none"};
    const int count = static_cast<int>(axes.size() - first);
    return {stage, axes[first + static_cast<size_t>(Below(count))].name};
  }

  // Writes a stream line, with tiles along some of the axes.
  std::string Stream() {
    const auto [stage, axis] = AnyReduction();
    const ComputationStage& streamed = computation().stages[stage];
    std::string text = Stage(stage) + " " + axis + "/" + AnyFactor() + " " +
                       std::to_string(1 + Below(12));
    for (int a = 0; a < streamed.spatial_count; ++a) {
      if (Chance(3)) continue;
      text +=
          " " + streamed.axes[static_cast<size_t>(a)].name + "/" + AnyFactor();
    }
    return text + Results(1);
  }

  // Writes an rfactor line for a stage with a reduction, if there is one.
  std::string Rfactor() {
    const auto [stage, axis] = AnyReduction();
    const std::string parts[] = {"", "/" + AnyFactor(), "%" + AnyFactor(),
                                 "/" + AnyFactor() + "%" + AnyFactor()};
    return Stage(stage) + " " + axis + parts[Below(4)] + Results(1);
  }

  const Schedule& schedule_;
  int next_name_ = 0;
  bool looked_for_convolution_ = false;
  bool looked_for_dots_ = false;
  std::vector<std::string> planned_;
};

std::string_view FirstWord(std::string_view line) {
  return line.substr(0, line.find(' '));
}

}  // namespace

void RandomScheduleCounts::Add(const RandomScheduleCounts& other) {
  applied += other.applied;
  refused += other.refused;
  for (const auto& [primitive, times] : other.applied_by_primitive)
    applied_by_primitive[primitive] += times;
  for (const auto& [reason, times] : other.reasons) reasons[reason] += times;
}

std::string ReasonClass(std::string_view message) {
  std::string result;
  for (size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    result += c;
    // The apostrophe of "another one's loop" begins no quotation.
    if (c == '\'' && i > 0 && message[i - 1] == ' ') {
      i = std::min(message.find('\'', i + 1), message.size() - 1);
      result += ".'";
    } else if (c == '%') {
      result += '.';
      while (i + 1 < message.size() && message[i + 1] != ' ' &&
             message[i + 1] != ':') {
        ++i;
      }
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      result.back() = '0';
      while (i + 1 < message.size() &&
             std::isdigit(static_cast<unsigned char>(message[i + 1]))) {
        ++i;
      }
    }
  }
  return result;
}

int ApplyRandomPrimitives(uint64_t seed, int count, Schedule& schedule,
                          RandomScheduleCounts* counts) {
  LineWriter writer(seed, schedule);
  RandomScheduleCounts own;
  for (int i = 0; i < count; ++i) {
    const std::string line = writer.Line(/*with_marks=*/i >= count / 2);
    const std::string primitive(FirstWord(line));
    const Status status = Apply(line, schedule);
    if (status.ok()) {
      ++own.applied;
      ++own.applied_by_primitive[primitive];
      continue;
    }
    std::string_view reason = status.message();
    EMBER_CHECK(reason.starts_with(line + ": ")) << reason;
    reason.remove_prefix(line.size() + 2);
    EMBER_CHECK(!reason.empty()) << line;
    EMBER_CHECK(status.code() == StatusCode::kInvalidArgument ||
                status.code() == StatusCode::kFailedPrecondition)
        << status.ToString();
    ++own.refused;
    ++own.reasons[primitive + ": " + ReasonClass(reason)];
  }
  if (counts != nullptr) counts->Add(own);
  return static_cast<int>(own.applied);
}

}  // namespace ember::schedule
