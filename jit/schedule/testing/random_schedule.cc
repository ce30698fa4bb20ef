#include "jit/schedule/testing/random_schedule.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/primitives/online_softmax.h"
#include "jit/schedule/primitives/replay.h"
#include "jit/schedule/testing/random_matrix_steps.h"
#include "tensor/testing/random_values.h"

namespace ember::schedule {
namespace {

// True for the steps that mark a loop. A marked loop cannot be split or fused
// any more.
template <typename S>
constexpr bool kIsMark =
    std::is_same_v<S, Unroll> || std::is_same_v<S, Vectorize> ||
    std::is_same_v<S, Parallel> || std::is_same_v<S, Bind> ||
    std::is_same_v<S, Tensorize> || std::is_same_v<S, MultiplyMatrices>;

// Writes random steps. Most operands are chosen so that the primitive may
// accept them; some are arbitrary.
class StepWriter : private tensor::RandomChoices {
 public:
  StepWriter(uint64_t seed, const Schedule& schedule)
      : RandomChoices(seed), schedule_(schedule) {}

  // Returns a random step. Steps that mark loops are returned only if
  // `with_marks` is true, which is so in the second half of a schedule.
  Step Next(bool with_marks) {
    struct Generator {
      Step (StepWriter::*write)();
      bool is_mark;
    };
    // clang-format off
    static constexpr Generator kGenerators[] = {
#define EMBER_ROW(name, step, ...) \
  {&StepWriter::step, kIsMark<schedule::step>},
      EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)
#undef EMBER_ROW
    };
    // clang-format on
    const Generator* generator = nullptr;
    // The first step tries primitives for convolutions and for products of a
    // softmax. Few stages have these forms, and stages lose them when their
    // loops change.
    if (!looked_for_convolution_) {
      looked_for_convolution_ = true;
      if (Convolution() >= 0 && !Chance(4)) return Winograd();
      if (ProductOfSoftmax(KeyCount::kAny) >= 0 && !Chance(4))
        return Chance(2) ? SkipHidden() : OnlineSoftmax();
    }
    // Products of narrow integers, and products of matrices, need several steps
    // that fit each other, so these are planned together.
    if (!looked_for_dots_) {
      looked_for_dots_ = true;
      if (!Chance(4)) PlanDots();
      if (planned_.empty() && !Chance(4))
        planned_ = PlanRandomMatrices(computation(), *this, next_name_);
      if (planned_.empty() && Chance(3)) PlanDoubleBuffer();
    }
    if (!planned_.empty()) {
      Step step = std::move(planned_.front());
      planned_.erase(planned_.begin());
      return step;
    }
    do {
      generator = &kGenerators[Below(std::size(kGenerators))];
    } while (!with_marks && generator->is_mark && !Chance(10));
    return (this->*generator->write)();
  }

 private:
  // --- operands ---

  const Computation& computation() const { return schedule_.computation(); }
  int64_t AnyFactor() {
    static constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 8, 16};
    if (Chance(60)) return Chance(2) ? 0 : 64;
    return kFactors[Below(std::size(kFactors))];
  }
  int AnyStage() {
    return Below(static_cast<int>(computation().stages.size()));
  }
  // Returns a random stage. It has at least `loops` loops, unless a few tries
  // do not find such a stage.
  int AnyStage(size_t loops) {
    int stage = AnyStage();
    for (int i = 0; i < 5 && schedule_.plan(stage).order.size() < loops; ++i)
      stage = AnyStage();
    return stage;
  }
  StageRef Stage(int stage) const { return {computation().stages[stage].name}; }
  // Returns a reference to a loop that does not exist.
  LoopRef NoLoop(int stage) const { return {Stage(stage), "none"}; }
  LoopRef LoopAt(int stage, size_t position) const {
    const StagePlan& plan = schedule_.plan(stage);
    if (position >= plan.order.size()) return NoLoop(stage);
    return {Stage(stage), plan.loops[plan.order[position]].name};
  }
  LoopRef AnyLoop(int stage) {
    const size_t count = schedule_.plan(stage).order.size();
    return count == 0
               ? NoLoop(stage)
               : LoopAt(stage,
                        static_cast<size_t>(Below(static_cast<int>(count))));
  }
  LoopRef InnermostLoop(int stage) const {
    return LoopAt(stage, schedule_.plan(stage).order.size() - 1);
  }
  BufferRef AnyBuffer() { return {Pick(computation().buffers).name}; }
  // Returns a random buffer that the stage reads; null if it reads none.
  const ComputationBuffer* ReadBuffer(int stage) {
    std::vector<const ComputationBuffer*> read;
    for (size_t i = 0; i < computation().buffers.size(); ++i) {
      if (Reads(computation(), stage, static_cast<uint32_t>(i)))
        read.push_back(&computation().buffers[i]);
    }
    return read.empty() ? nullptr : Pick(read);
  }
  // Returns a name for a new loop or stage. In most cases the name is new;
  // otherwise it is that of an existing loop.
  std::string NewName() {
    if (Chance(80)) return AnyLoop(AnyStage()).name;
    return "r" + std::to_string(next_name_++);
  }
  // Returns two loops of the stage. In most cases they are neighbours.
  std::pair<LoopRef, LoopRef> TwoLoops(int stage) {
    const int count = static_cast<int>(schedule_.plan(stage).order.size());
    if (count < 2 || Chance(10)) return {AnyLoop(stage), AnyLoop(stage)};
    const size_t first = static_cast<size_t>(Below(count - 1));
    return {LoopAt(stage, first), LoopAt(stage, first + 1)};
  }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1],
                items[static_cast<size_t>(Below(static_cast<int>(i)))]);
  }

  // --- One function per row of the table of primitives, with the name of the
  // row's struct. In this class, `Split` is the function and schedule::Split is
  // the struct. ---

  Step Split() {
    const int stage = AnyStage(1);
    return schedule::Split{.loop = AnyLoop(stage),
                           .factor = AnyFactor(),
                           .outer = NewName(),
                           .inner = NewName()};
  }

  Step Tile() {
    const auto [i, j] = TwoLoops(AnyStage(2));
    return schedule::Tile{.i = i,
                          .j = j,
                          .rows = AnyFactor(),
                          .columns = AnyFactor(),
                          .outer_i = NewName(),
                          .outer_j = NewName(),
                          .inner_i = NewName(),
                          .inner_j = NewName()};
  }

  Step Fuse() {
    const auto [outer, inner] = TwoLoops(AnyStage(2));
    return schedule::Fuse{outer, inner, NewName()};
  }

  Step Reorder() {
    const int stage = AnyStage(2);
    std::vector<LoopRef> loops;
    for (size_t i = 0; i < schedule_.plan(stage).order.size(); ++i)
      loops.push_back(LoopAt(stage, i));
    Shuffle(loops);
    if (loops.size() > 2 && Chance(2)) loops.resize(loops.size() - 1);
    if (!loops.empty() && Chance(40)) loops.push_back(LoopRef(loops[0]));
    return schedule::Reorder{std::move(loops)};
  }

  Step Unroll() { return schedule::Unroll{AnyLoop(AnyStage(1))}; }

  Step Vectorize() {
    const int stage = AnyStage(1);
    return schedule::Vectorize{Chance(4) ? AnyLoop(stage)
                                         : InnermostLoop(stage)};
  }

  Step Parallel() {
    const int stage = AnyStage(1);
    return schedule::Parallel{Chance(4) ? AnyLoop(stage) : LoopAt(stage, 0)};
  }

  Step Bind() { return schedule::Bind{AnyLoop(AnyStage(1))}; }

  Step Peel() {
    const int stage = AnyStage(1);
    const StagePlan& plan = schedule_.plan(stage);
    std::vector<LoopRef> outer;
    for (int loop : plan.order) {
      if (plan.loops[loop].origin == Loop::Origin::kOuter)
        outer.push_back({Stage(stage), plan.loops[loop].name});
    }
    return schedule::Peel{outer.empty() || Chance(20) ? AnyLoop(stage)
                                                      : Pick(outer)};
  }

  Step ComputeAt() {
    const int producer = AnyStage();
    const std::vector<int> consumers = ConsumersOf(computation(), producer);
    const int consumer =
        consumers.empty() || Chance(3) ? AnyStage() : Pick(consumers);
    return schedule::ComputeAt{Stage(producer), AnyLoop(consumer)};
  }

  Step CacheRead() {
    const int stage = AnyStage();
    const ComputationBuffer* const buffer = ReadBuffer(stage);
    return schedule::CacheRead{
        .reader = Stage(stage),
        .buffer = buffer == nullptr || Chance(10) ? AnyBuffer()
                                                  : BufferRef{buffer->name},
        .type = TypeOfCopy(),
        .dims = buffer == nullptr || Chance(2) ? std::vector<size_t>()
                                               : DimsOf(*buffer),
        .copy = NewName()};
  }

  // Returns the numbers of the buffer's dims in a random order.
  std::vector<size_t> DimsOf(const ComputationBuffer& buffer) {
    std::vector<size_t> dims;
    while (dims.size() < buffer.extents.size()) dims.push_back(dims.size());
    Shuffle(dims);
    return dims;
  }

  std::optional<DType> TypeOfCopy() {
    constexpr DType kTypes[] = {DType::kI16, DType::kI32, DType::kI64,
                                DType::kF32, DType::kF64};
    if (!Chance(4)) return std::nullopt;
    return kTypes[Below(std::size(kTypes))];
  }

  // Returns the number of a random stage that is attached to a loop of another
  // one. If a few tries find none, it is the number of any stage.
  int AttachedStage() {
    int stage = AnyStage();
    for (int i = 0; i < 5 && schedule_.plan(stage).attach_stage < 0; ++i)
      stage = AnyStage();
    return stage;
  }

  Step DoubleBuffer() {
    const StageRef stage = Stage(AttachedStage());
    return schedule::DoubleBuffer{
        stage,
        {.buffering =
             Chance(4) ? Buffering::kDoubleByRegisters : Buffering::kDouble}};
  }

  Step PadRows() {
    const StageRef stage = Stage(AttachedStage());
    return schedule::PadRows{stage, 1 + Below(9)};
  }

  void Plan(Step step) { planned_.push_back(std::move(step)); }

  // Plans a double-buffered copy of a buffer that a stage reads: invocations
  // load it together, one or more iterations ahead.
  void PlanDoubleBuffer() {
    const int stage = AnyStage(1);
    const StagePlan& plan = schedule_.plan(stage);
    const ComputationBuffer* const buffer = ReadBuffer(stage);
    if (buffer == nullptr || plan.order.empty()) return;
    const StageRef copy = {NewName()};
    LoopRef loop = AnyLoop(stage);
    if (Chance(2)) {
      const schedule::Split split{.loop = loop,
                                  .factor = Chance(2) ? 2 : 3,
                                  .outer = NewName(),
                                  .inner = NewName()};
      loop.name = split.outer;
      Plan(split);
    }
    Plan(schedule::CacheRead{
        .reader = Stage(stage), .buffer = {buffer->name}, .copy = copy.name});
    Plan(schedule::ComputeAt{copy, loop});
    const bool by_registers = Chance(2);
    LoopRef dim = {copy, "c0"};
    for (size_t d = 1; d < buffer->extents.size(); ++d) {
      const std::string fused = NewName();
      Plan(schedule::Fuse{dim, {copy, "c" + std::to_string(d)}, fused});
      dim.name = fused;
    }
    if (!buffer->extents.empty()) {
      const LoopRef round = {copy, NewName()}, item = {copy, NewName()};
      Plan(schedule::Split{dim, Chance(2) ? 4 : 3, round.name, item.name});
      Plan(schedule::Bind{item});
      if (by_registers) Plan(schedule::Unroll{round});
    }
    LoadAhead in_slots{.buffering = Buffering::kAsync,
                       .slots = Chance(2)   ? 3
                                : Chance(2) ? 2
                                            : 4};
    LoadAhead how{.buffering = Buffering::kDouble};
    if (by_registers) {
      how.buffering = Buffering::kDoubleByRegisters;
    } else if (Chance(2)) {
      in_slots.is_late = Chance(3);
      how = in_slots;
    }
    Plan(schedule::DoubleBuffer{copy, how});
    // The innermost loop of the stage that reads the copy is sometimes bound to
    // invocations, too.
    if (Chance(2)) Plan(schedule::Bind{InnermostLoop(stage)});
  }

  Step Pack() {
    using enum LayoutDim::Part;
    const int stage = AnyStage();
    const ComputationBuffer* buffer = ReadBuffer(stage);
    if (buffer == nullptr || Chance(10)) buffer = &Pick(computation().buffers);
    std::vector<LayoutDim> layout;
    for (size_t d = 0; d < buffer->extents.size(); ++d) {
      if (Chance(2)) {
        layout.push_back({.dim = d});
        continue;
      }
      const int64_t factor = AnyFactor();
      layout.push_back({d, kQuotient, factor});
      layout.push_back({d, kRemainder, Chance(20) ? AnyFactor() : factor});
    }
    Shuffle(layout);
    if (!layout.empty() && Chance(30)) layout.pop_back();
    return schedule::Pack{.reader = Stage(stage),
                          .buffer = {buffer->name},
                          .type = TypeOfCopy(),
                          .layout = std::move(layout),
                          .copy = NewName()};
  }

  // Returns the number of a random stage that is a sum of products. If a few
  // tries find none, it is the number of any stage.
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

  Step PadReduction() {
    const int stage = Product();
    return schedule::PadReduction{
        Chance(8) ? AnyLoop(stage) : InnermostLoop(stage), AnyFactor()};
  }

  Step Tensorize() {
    const int stage = Product();
    return schedule::Tensorize{Chance(8) ? AnyLoop(stage)
                                         : InnermostLoop(stage)};
  }

  Step CacheWrite() {
    return schedule::CacheWrite{Stage(AnyStage()), NewName()};
  }

  // Plans dot loops for a stage %acc[i, j] = sum(k) i32(%a[i, k]) * i32(%b[j,
  // k]), if there is one. An instruction adds 2 or 4 products; sometimes
  // results are lanes of vectors.
  void PlanDots() {
    using tensor::Opcode;
    using enum LayoutDim::Part;
    const Computation& c = computation();
    for (const ComputationStage& stage : c.stages) {
      if (stage.combiner != tensor::Combiner::kSum || stage.axes.size() != 3)
        continue;
      const tensor::Node& product = c.pool[stage.values[0]];
      if (product.opcode != Opcode::kMultiply || product.type != DType::kI32)
        continue;
      std::vector<const ComputationBuffer*> buffers;
      for (NodeId factor : product.operands) {
        const tensor::Node& cast = c.pool[factor];
        if (cast.opcode != Opcode::kCast) continue;
        const tensor::Node& load = c.pool[cast.operands[0]];
        if (load.opcode == Opcode::kLoad && load.operands.size() == 2 &&
            load.operands[1] == stage.axes[2].variable) {
          buffers.push_back(&c.buffers[load.buffer]);
        }
      }
      if (buffers.size() != 2) continue;
      const StageRef acc = {stage.name};
      const LoopRef i = {acc, stage.axes[0].name},
                    j = {acc, stage.axes[1].name},
                    k = {acc, stage.axes[2].name};
      const int64_t count = Chance(2) ? 2 : 4;
      Plan(schedule::PadReduction{k, count});
      for (size_t n = 0; n < 2; ++n) {
        schedule::Pack pack{.reader = acc, .buffer = {buffers[n]->name}};
        if (count == 2 && Chance(2)) pack.type = DType::kI16;
        constexpr tensor::Interval kSmall = {-64, 64};
        if (buffers[n]->values.Within(kSmall) && !Chance(3))
          pack.range = kSmall;
        const LayoutDim step = {1, kQuotient, count},
                        dot = {1, kRemainder, count};
        if (n == 1) {
          pack.layout = {{0, kQuotient, 8}, step, {0, kRemainder, 8}, dot};
        } else {
          pack.layout = {{.dim = 0}, step, dot};
        }
        pack.copy = NewName();
        Plan(std::move(pack));
      }
      const LoopRef step = {acc, NewName()}, dot = {acc, NewName()};
      Plan(schedule::Split{k, count, step.name, dot.name});
      if (Chance(3)) {
        Plan(schedule::Tensorize{dot});
        return;
      }
      const LoopRef block = {acc, NewName()}, lane = {acc, NewName()};
      Plan(schedule::Split{j, Chance(2) ? 8 : 4, block.name, lane.name});
      Plan(schedule::Reorder{{i, block, step, lane, dot}});
      Plan(schedule::Tensorize{dot});
      Plan(schedule::Vectorize{lane});
      return;
    }
  }

  // Returns a step that makes matrices of three loops of a stage, mostly the
  // innermost ones, the last of which should be a reduction. It gives subgroups
  // a random loop, which may be one of the three.
  Step MultiplyMatrices() {
    const int stage = Product();
    const size_t count = schedule_.plan(stage).order.size();
    const auto inner = [&](size_t from_end) {
      return Chance(8) ? AnyLoop(stage) : LoopAt(stage, count - from_end);
    };
    return schedule::MultiplyMatrices{.subgroups = AnyLoop(stage),
                                      .rows = inner(3),
                                      .columns = inner(2),
                                      .steps = inner(1)};
  }

  // Returns the number of a stage whose axes may be those of a convolution; -1
  // if there is none.
  int Convolution() const {
    const auto& stages = computation().stages;
    for (size_t i = 0; i < stages.size(); ++i) {
      if (stages[i].spatial_count == 4 && stages[i].axes.size() == 7)
        return static_cast<int>(i);
    }
    return -1;
  }

  Step Winograd() {
    const int convolution = Convolution();
    const int stage = convolution < 0 || Chance(8) ? AnyStage() : convolution;
    return schedule::Winograd{.convolution = Stage(stage),
                              .outputs = Chance(8)   ? AnyFactor()
                                         : Chance(2) ? 2
                                                     : 4,
                              .filter = NewName(),
                              .input = NewName(),
                              .products = NewName()};
  }

  // Returns the number of the last stage that is the product of a softmax; -1
  // if there is none.
  int ProductOfSoftmax(KeyCount keys = KeyCount::kConstant) const {
    for (int i = static_cast<int>(computation().stages.size()); i-- > 0;) {
      if (MatchSoftmaxOfProduct(schedule_, i, keys).ok()) return i;
    }
    return -1;
  }

  Step OnlineSoftmax() {
    using enum HiddenBlocks;
    const int product = ProductOfSoftmax();
    if (product < 0 || Chance(8)) {
      return schedule::OnlineSoftmax{.product = Stage(AnyStage()),
                                     .block = AnyFactor(),
                                     .sum = NewName(),
                                     .total = NewName()};
    }
    const int64_t length = MatchSoftmaxOfProduct(schedule_, product)->length;
    // In most cases blocks divide the row.
    const bool are_whole = !Chance(3);
    std::vector<int64_t> blocks;
    for (int64_t block = 1; block <= length; ++block) {
      if (!are_whole || length % block == 0) blocks.push_back(block);
    }
    return schedule::OnlineSoftmax{
        .product = Stage(product),
        .block = blocks.empty() || Chance(8) ? AnyFactor() : Pick(blocks),
        .hidden = Chance(2) ? kSkip : kCompute,
        .sum = NewName(),
        .total = NewName()};
  }

  Step SkipHidden() {
    const int product = ProductOfSoftmax(KeyCount::kAny);
    const int stage = product < 0 || Chance(8) ? AnyStage() : product;
    return schedule::SkipHidden{Stage(stage)};
  }

  Step Inline() { return schedule::Inline{Stage(AnyStage())}; }

  // Returns a step that cuts a spatial axis at a random point.
  Step Cut() {
    const int stage = AnyStage(1);
    const ComputationStage& cut = computation().stages[stage];
    if (cut.spatial_count == 0)
      return schedule::Cut{NoLoop(stage), 1, NewName()};
    const ComputationAxis& axis = cut.axes[Below(cut.spatial_count)];
    const int64_t extent =
        computation().pool.IntegerConstant(axis.extent).value_or(2);
    return schedule::Cut{.axis = {Stage(stage), axis.name},
                         .first = extent < 1 || Chance(20)
                                      ? 1
                                      : 1 + Below(static_cast<int>(extent)),
                         .rest = NewName()};
  }

  // Returns the number of a random stage that is a reduction, and one of its
  // reduction loops. If a few tries find none, it is any stage and a loop that
  // does not exist.
  std::pair<int, LoopRef> AnyReduction() {
    int stage = AnyStage();
    for (int i = 0; i < 5 && !computation().stages[stage].has_reduction(); ++i)
      stage = AnyStage();
    const auto& axes = computation().stages[stage].axes;
    const size_t spatial =
        static_cast<size_t>(computation().stages[stage].spatial_count);
    const size_t first = Chance(20) ? 0 : std::min(spatial, axes.size());
    if (first >= axes.size()) return {stage, NoLoop(stage)};
    const int count = static_cast<int>(axes.size() - first);
    const size_t axis = first + static_cast<size_t>(Below(count));
    return {stage, {Stage(stage), axes[axis].name}};
  }

  // Returns a step that divides a reduction into random ranges (stream-K), with
  // tiles along some spatial axes.
  Step Stream() {
    const auto [stage, reduction] = AnyReduction();
    const ComputationStage& streamed = computation().stages[stage];
    schedule::Stream stream{.reduction = {reduction, AnyFactor()},
                            .ranges = 1 + Below(12)};
    for (int a = 0; a < streamed.spatial_count; ++a) {
      if (Chance(3)) continue;
      const std::string& axis = streamed.axes[static_cast<size_t>(a)].name;
      stream.tiles.push_back({{Stage(stage), axis}, AnyFactor()});
    }
    stream.parts = NewName();
    return stream;
  }

  // Returns a step that divides a reduction into parts (rfactor), if there is a
  // reduction.
  Step Rfactor() {
    using enum LoopDigit::Kind;
    const LoopRef reduction = AnyReduction().second;
    const LoopDigit parts[] = {{reduction, kWhole},
                               {reduction, kQuotient, AnyFactor()},
                               {reduction, kRemainder, AnyFactor()},
                               {.loop = reduction,
                                .kind = kRemainder,
                                .factor = AnyFactor(),
                                .run = AnyFactor()}};
    return schedule::Rfactor{parts[Below(std::size(parts))], NewName()};
  }

  const Schedule& schedule_;
  int next_name_ = 0;
  bool looked_for_convolution_ = false;
  bool looked_for_dots_ = false;
  std::vector<Step> planned_;
};

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
    // An apostrophe inside a word, as in "another one's loop", begins no
    // quotation.
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
  StepWriter writer(seed, schedule);
  RandomScheduleCounts own;
  for (int i = 0; i < count; ++i) {
    const Step step = writer.Next(/*with_marks=*/i >= count / 2);
    const std::string line = ToText(step);
    const std::string primitive(InfoOf(step).name);
    const Status status = Apply(step, schedule);
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
