// The steps of a schedule: one struct for each primitive, with typed operands.
// A schedule is a list of steps, and its text has a line for each of them.
//
//   const StageRef y{"y"};
//   const Split split{.loop = {y, "j"}, .factor = 16, .outer = "j0",
//                     .inner = "j1"};
//   ToText(split)                                  // "split %y j 16 -> j0 j1"
//   ParseStep("vectorize %y j1")                   // Vectorize{{y, "j1"}}
//
// A primitive is a struct here, a row of the table below it, a function in a
// file of its family, and a text test (docs/adding/schedule-primitive.md).
//
// Steps are values without references: they can be kept, changed and applied to
// another schedule. Apply (jit/schedule/primitives/replay.h) checks and applies
// steps. schedule_writer.h in jit/schedule/rules writes schedules with them.
#ifndef EMBER_JIT_SCHEDULE_CORE_STEPS_H_
#define EMBER_JIT_SCHEDULE_CORE_STEPS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "tensor/interval.h"

namespace ember::schedule {

// --- operands ---

// Refers to a stage by its name without '%'. Stages are named after the buffer
// that they store to.
struct StageRef {
  std::string name;

  friend auto operator<=>(const StageRef&, const StageRef&) = default;
};

// Refers to a loop by its stage and its name. Before primitives change them, a
// stage's loops are its axes.
struct LoopRef {
  StageRef stage;
  std::string name;

  LoopRef() = default;
  // A constructor makes LoopRef no aggregate, so that a StageRef in braces does
  // not convert to a loop.
  LoopRef(StageRef of, std::string loop)
      : stage(std::move(of)), name(std::move(loop)) {}

  friend auto operator<=>(const LoopRef&, const LoopRef&) = default;
};

// Refers to a buffer by its name without '%'.
struct BufferRef {
  std::string name;

  friend auto operator<=>(const BufferRef&, const BufferRef&) = default;
};

// A dim of a packed buffer. Its index is the index of dim `dim` of the source
// buffer, or the quotient or remainder of that index by `factor`.
struct LayoutDim {
  enum class Part : uint8_t { kWhole, kQuotient, kRemainder };
  size_t dim = 0;
  Part part = Part::kWhole;
  int64_t factor = 1;

  friend bool operator==(const LayoutDim&, const LayoutDim&) = default;
};

// The part of a reduction's index that becomes the axis of parts in rfactor: k,
// k/n, k%n or k/n%m.
struct LoopDigit {
  enum class Kind : uint8_t { kWhole, kQuotient, kRemainder };
  LoopRef loop;
  Kind kind = Kind::kWhole;
  int64_t factor = 1;
  // only for kRemainder: the remainder is taken of the index divided by `run`
  int64_t run = 1;

  friend bool operator==(const LoopDigit&, const LoopDigit&) = default;
};

// A loop, and the length of the pieces into which it is divided. Its text is
// k/8.
struct LoopPieces {
  LoopRef loop;
  int64_t size = 1;

  friend bool operator==(const LoopPieces&, const LoopPieces&) = default;
};

// The way in which the buffer of a stage that is computed in a loop of another
// one is filled.
enum class Buffering : uint8_t {
  kSingle,
  kDouble,  // filled one iteration ahead: an iteration reads one half of the
            // buffer while the other half is filled
  // Like kDouble, but each element is first loaded to a register of an
  // invocation, and stored at the iteration's end.
  kDoubleByRegisters,
  kAsync  // filled several iterations ahead by asynchronous copies, in a ring
          // of slots
};

// The way in which double_buffer loads a stage ahead.
struct LoadAhead {
  Buffering buffering = Buffering::kDouble;
  // number of ring slots; only for kAsync, as are the members below
  int64_t slots = 2;
  // True if the copies for a later iteration start after the current
  // iteration's arithmetic.
  bool is_late = false;
  // True if one slot is kept for the previous iteration, whose operations may
  // still read it, so that copies are one iteration less ahead.
  bool has_spare = false;

  friend bool operator==(const LoadAhead&, const LoadAhead&) = default;
};

// Says if an online softmax computes the blocks that a mask hides, or skips
// them.
enum class HiddenBlocks : uint8_t { kCompute, kSkip };

// --- steps ---
//
// Each step is a struct. Its kOperands and kResults list its members in the
// order of the text. The first loop of a step is written after its stage.
// Further loops are of the same stage, and are written without it.

// Replaces the loop by two loops, whose values give its value as outer * factor
// + inner.
struct Split {
  LoopRef loop;
  int64_t factor = 0;
  std::string outer, inner;
  static constexpr auto kOperands = std::tuple(&Split::loop, &Split::factor);
  static constexpr auto kResults = std::tuple(&Split::outer, &Split::inner);
};

struct Tile {
  LoopRef i, j;
  int64_t rows = 0, columns = 0;
  std::string outer_i, outer_j, inner_i, inner_j;
  static constexpr auto kOperands =
      std::tuple(&Tile::i, &Tile::j, &Tile::rows, &Tile::columns);
  static constexpr auto kResults = std::tuple(&Tile::outer_i, &Tile::outer_j,
                                              &Tile::inner_i, &Tile::inner_j);
};

struct Fuse {
  LoopRef outer, inner;
  std::string fused;
  static constexpr auto kOperands = std::tuple(&Fuse::outer, &Fuse::inner);
  static constexpr auto kResults = std::tuple(&Fuse::fused);
};

struct Reorder {
  std::vector<LoopRef> loops;  // two or more
  static constexpr auto kOperands = std::tuple(&Reorder::loops);
  static constexpr auto kResults = std::tuple();
};

struct Unroll {
  LoopRef loop;
  static constexpr auto kOperands = std::tuple(&Unroll::loop);
  static constexpr auto kResults = std::tuple();
};

struct Vectorize {
  LoopRef loop;
  static constexpr auto kOperands = std::tuple(&Vectorize::loop);
  static constexpr auto kResults = std::tuple();
};

struct Parallel {
  LoopRef loop;
  static constexpr auto kOperands = std::tuple(&Parallel::loop);
  static constexpr auto kResults = std::tuple();
};

struct Bind {
  LoopRef loop;
  static constexpr auto kOperands = std::tuple(&Bind::loop);
  static constexpr auto kResults = std::tuple();
};

struct Peel {
  LoopRef outer;  // the outer loop of a split, which Peel peels
  static constexpr auto kOperands = std::tuple(&Peel::outer);
  static constexpr auto kResults = std::tuple();
};

struct ComputeAt {
  StageRef producer;
  LoopRef loop;  // a loop of the stage that reads the producer's results
  static constexpr auto kOperands =
      std::tuple(&ComputeAt::producer, &ComputeAt::loop);
  static constexpr auto kResults = std::tuple();
};

struct CacheRead {
  StageRef reader;
  BufferRef buffer;
  std::optional<DType> type;  // element type of the copy; nullopt: that of the
                              // buffer
  std::vector<size_t> dims;   // dims of the buffer, in the order that they have
                              // in the copy; empty: the same order
  std::string copy;
  static constexpr auto kOperands =
      std::tuple(&CacheRead::reader, &CacheRead::buffer, &CacheRead::type,
                 &CacheRead::dims);
  static constexpr auto kResults = std::tuple(&CacheRead::copy);
};

struct DoubleBuffer {
  StageRef stage;
  LoadAhead how;
  static constexpr auto kOperands =
      std::tuple(&DoubleBuffer::stage, &DoubleBuffer::how);
  static constexpr auto kResults = std::tuple();
};

struct PadRows {
  StageRef stage;
  int64_t elements = 0;
  static constexpr auto kOperands =
      std::tuple(&PadRows::stage, &PadRows::elements);
  static constexpr auto kResults = std::tuple();
};

struct Pack {
  StageRef reader;
  BufferRef buffer;
  std::optional<DType> type;              // element type of the copy; nullopt:
                                          // that of the buffer
  std::optional<tensor::Interval> range;  // an interval that contains the
                                          // values of all elements
  std::vector<LayoutDim> layout;          // layout of the copy, one entry per
                                          // dim; at least one
  std::string copy;
  static constexpr auto kOperands = std::tuple(
      &Pack::reader, &Pack::buffer, &Pack::type, &Pack::range, &Pack::layout);
  static constexpr auto kResults = std::tuple(&Pack::copy);
};

struct CacheWrite {
  StageRef stage;
  std::string computing;
  static constexpr auto kOperands = std::tuple(&CacheWrite::stage);
  static constexpr auto kResults = std::tuple(&CacheWrite::computing);
};

struct Inline {
  StageRef stage;
  static constexpr auto kOperands = std::tuple(&Inline::stage);
  static constexpr auto kResults = std::tuple();
};

struct Rfactor {
  LoopDigit part;
  std::string parts;
  static constexpr auto kOperands = std::tuple(&Rfactor::part);
  static constexpr auto kResults = std::tuple(&Rfactor::parts);
};

struct Stream {
  LoopPieces reduction;
  int64_t ranges = 0;
  std::vector<LoopPieces> tiles;  // axes of the results, with the sizes of
                                  // tiles along them
  std::string parts;
  static constexpr auto kOperands =
      std::tuple(&Stream::reduction, &Stream::ranges, &Stream::tiles);
  static constexpr auto kResults = std::tuple(&Stream::parts);
};

struct Cut {
  LoopRef axis;
  int64_t first = 0;  // first point of the axis that the new stage `rest`
                      // computes
  std::string rest;
  static constexpr auto kOperands = std::tuple(&Cut::axis, &Cut::first);
  static constexpr auto kResults = std::tuple(&Cut::rest);
};

struct PadReduction {
  LoopRef loop;
  int64_t factor = 0;
  static constexpr auto kOperands =
      std::tuple(&PadReduction::loop, &PadReduction::factor);
  static constexpr auto kResults = std::tuple();
};

struct Tensorize {
  LoopRef loop;
  static constexpr auto kOperands = std::tuple(&Tensorize::loop);
  static constexpr auto kResults = std::tuple();
};

struct MultiplyMatrices {
  LoopRef subgroups, rows, columns, steps;
  static constexpr auto kOperands =
      std::tuple(&MultiplyMatrices::subgroups, &MultiplyMatrices::rows,
                 &MultiplyMatrices::columns, &MultiplyMatrices::steps);
  static constexpr auto kResults = std::tuple();
};

struct Winograd {
  StageRef convolution;
  int64_t outputs = 0;  // number of results of a tile along each of the two
                        // dims of the image
  std::string filter, input, products;
  static constexpr auto kOperands =
      std::tuple(&Winograd::convolution, &Winograd::outputs);
  static constexpr auto kResults =
      std::tuple(&Winograd::filter, &Winograd::input, &Winograd::products);
};

struct OnlineSoftmax {
  StageRef product;
  int64_t block = 0;  // number of keys (elements of a row of the softmax) in a
                      // block
  HiddenBlocks hidden = HiddenBlocks::kCompute;
  std::string sum, total;
  static constexpr auto kOperands = std::tuple(
      &OnlineSoftmax::product, &OnlineSoftmax::block, &OnlineSoftmax::hidden);
  static constexpr auto kResults =
      std::tuple(&OnlineSoftmax::sum, &OnlineSoftmax::total);
};

struct SkipHidden {
  StageRef product;
  static constexpr auto kOperands = std::tuple(&SkipHidden::product);
  static constexpr auto kResults = std::tuple();
};

// --- table of primitives ---

// The hardware feature without which a primitive makes a kernel slower, or
// impossible to compile.
enum class Needs : uint8_t {
  kNothing,
  kInvocations,  // workgroups with several invocations, as GPUs have
  kDots,         // instructions that add up several products of narrow numbers
  kMatrices      // instructions that multiply matrices
};

// Largest growth of errors in one dim (ErrorGrowth in
// jit/schedule/primitives/winograd_matrices.h) of the Winograd convolutions
// that default schedules choose.
inline constexpr double kLargestWinogradGrowth = 16.5;

// clang-format off
// The table of primitives. A row: (name, step, keeps rounding, error growth, changes loops only, needs, usage, doc).
#define EMBER_FOR_EACH_PRIMITIVE(row) \
  row("split", Split, true, 1, true, kNothing, "%stage loop factor -> outer inner", \
      "replaces the loop by outer * factor + inner; guarded where factor does not divide its extent") \
  row("tile", Tile, true, 1, true, kNothing, "%stage i j fi fj -> io jo ii ji", \
      "splits two loops and orders them io jo ii ji, beginning at the place of i") \
  row("fuse", Fuse, true, 1, true, kNothing, "%stage outer inner -> loop", \
      "joins two neighbouring loops into one") \
  row("reorder", Reorder, true, 1, true, kNothing, "%stage loop...", \
      "puts the loops into this order, in the places that they had") \
  row("unroll", Unroll, true, 1, true, kNothing, "%stage loop", \
      "writes the body once for each value; the extent must be constant") \
  row("vectorize", Vectorize, true, 1, true, kNothing, "%stage loop", \
      "runs all values at once in vector lanes; the extent must be constant, and the loop must contain no reduction, " \
      "stage or other vector loop") \
  row("parallel", Parallel, true, 1, true, kNothing, "%stage loop", \
      "makes the outermost loop's values tasks, which any worker may run") \
  row("bind", Bind, true, 1, false, kInvocations, "%stage loop", \
      "runs the loop's values at once, as invocations of a task; the extent must be constant, and the loop must contain " \
      "no other bound loop; in a reduction each invocation combines a part, and then the parts are combined") \
  row("peel", Peel, true, 1, true, kNothing, "%stage outer", \
      "adds code without guards for the iterations in which the split that made `outer` is exact") \
  row("compute_at", ComputeAt, true, 1, false, kNothing, "%producer %stage loop", \
      "computes the producer inside the loop, each time the part that the iteration needs") \
  row("cache_read", CacheRead, true, 1, false, kNothing, "%stage %buffer [type] [dim...] -> copy", \
      "a new stage copies the part of the buffer that the stage reads, padding included; the copy has a type that holds " \
      "all values of the buffer, and its dims in the order given") \
  row("double_buffer", DoubleBuffer, true, 1, false, kNothing, "%stage [registers | async slots [late [spare]]]", \
      "computes a stage in a serial loop one iteration ahead, at the end of an iteration, into the other half of its " \
      "buffer; registers: loads at the beginning of an iteration into registers of the invocations; async: copies slots " \
      "- 1 iterations ahead, or one less with spare, while arithmetic runs, if the device can; the stage's loops must " \
      "be marked before") \
  row("pad_rows", PadRows, true, 1, false, kInvocations, "%stage elements", \
      "moves the rows of a stage that is computed in a loop so many elements further apart, into other banks of the " \
      "memory that invocations share") \
  row("pack", Pack, true, 1, false, kNothing, "%stage %buffer [type] [low..high] layout... -> copy", \
      "like cache_read, in another layout: d (a dim), d/n and d%n; constants with constant extents are packed once; " \
      "low..high is a range that is known to contain all elements, and is written so that code relies on it") \
  row("cache_write", CacheWrite, true, 1, false, kNothing, "%stage -> computing", \
      "a new stage computes into a buffer of its own, and the stage copies the results to where it stored before") \
  row("inline", Inline, true, 1, false, kNothing, "%stage", \
      "replaces each load of the stage's result by the stage's expression, of at most 16 elements each, and removes the " \
      "stage") \
  row("rfactor", Rfactor, true, 1, false, kNothing, "%stage part -> parts", \
      "splits a reduction: a new stage combines the elements of each value of a part (k, k/n, k%n or k/n%m), and the " \
      "stage combines its results; also applies to an online softmax") \
  row("stream", Stream, true, 1, false, kNothing, "%stage reduction/steps ranges axis/size... -> parts", \
      "stream-K: puts the reduction steps of all tiles of the results one after another, in ranges of one length; a new " \
      "stage combines each piece of a range that belongs to one tile, and the stage combines the pieces of its tile") \
  row("cut", Cut, true, 1, false, kNothing, "%stage axis number -> rest", \
      "the stage keeps the points below the number, and a new stage computes the others, with its own copies of the " \
      "stages that only they need; the two may have different schedules, and run side by side") \
  row("pad", PadReduction, true, 1, false, kNothing, "%stage reduction factor", \
      "extends the reduction of a sum of products to a multiple of the factor; the added elements are zeros") \
  row("tensorize", Tensorize, true, 1, false, kDots, "%stage loop", \
      "turns the innermost loop, over 2 or 4 neighbours along which both factors of a sum of products are packed, into " \
      "one instruction per lane if there is one: 4 of i8 or u8, 2 of i8, u8 or i16, 2 of bf16") \
  row("multiply_matrices", MultiplyMatrices, true, 1, false, kMatrices, "%stage subgroups rows columns steps", \
      "turns the three innermost loops of a sum of products of f16, bf16, f32, i8 or u8, which must be inner loops of " \
      "splits, into products of matrices; each value of the loop `subgroups` has its own; loops between them must be " \
      "unrolled, or serial loops of the sum") \
  row("winograd", Winograd, false, kLargestWinogradGrowth * kLargestWinogradGrowth, false, kNothing, \
      "%convolution outputs -> filter input products", \
      "computes tiles of outputs * outputs results from transformed filters and tiles of the input; rounds differently") \
  row("online_softmax", OnlineSoftmax, false, 1, false, kNothing, "%product block [skip] -> sum total", \
      "computes a softmax inside the product that combines it, in blocks of its rows, whose sums are scaled as the " \
      "maximum grows; skip: leaves out blocks that a causal mask hides; rounds differently") \
  row("skip_hidden", SkipHidden, true, 1, false, kNothing, "%product", \
      "lets the loops over the keys of a softmax, and of the product that combines it, begin and end with the keys that a " \
      "causal mask or a sliding window shows to the rows inside; for finite factors")
// clang-format on

namespace internal {

// A variant of all types but the first, which is void: each row of the table
// begins with a comma.
template <typename First, typename... Rest>
struct VariantOfRest {
  using Type = std::variant<Rest...>;
};

}  // namespace internal

#define EMBER_ROW(name, step, ...) , step
using Step =
    internal::VariantOfRest<void EMBER_FOR_EACH_PRIMITIVE(EMBER_ROW)>::Type;
#undef EMBER_ROW

struct PrimitiveInfo {
  std::string_view name;
  std::string_view usage;
  std::string_view doc;
  // True if results are the same as those of the dispatch, except that sums may
  // be added up in another order.
  bool keeps_rounding = true;
  // The factor by which the errors of results may exceed those of directly
  // computed sums.
  double error_growth = 1;
  // True if the primitive changes only the loops of one stage.
  bool changes_loops_only = false;
  Needs needs = Needs::kNothing;
};
// Returns the rows of the table, in the order of Step's alternatives.
std::vector<PrimitiveInfo> Primitives();
const PrimitiveInfo& InfoOf(const Step& step);
// Returns the stage whose loops or values the step changes: the one that its
// line names first.
const StageRef& StageOf(const Step& step);

// Parses a line of a schedule's text. The step may name stages and loops that
// do not exist. Errors: kInvalidArgument.
StatusOr<Step> ParseStep(std::string_view line);
std::string ToText(const Step& step);

// Return the operand as it is written in the text of a step.
std::string ToText(const StageRef& stage);          // "%y"
std::string ToText(const LoopDigit& digit);         // "k/4%8"
std::string ToText(const LoopPieces& pieces);       // "k/8"
std::string ToText(const LayoutDim& dim);           // "1%32"
std::string ToText(const tensor::Interval& range);  // "-64..64"

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_STEPS_H_
