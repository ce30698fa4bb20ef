#include <algorithm>

#include "base/concat.h"
#include "base/rounding.h"
#include "tensor/sum_error.h"
#include "vm/interpreter/contraction.h"
#include "vm/interpreter/kernel_selection.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;

namespace {

// Target depth (number of steps along K) of a block of K. With this depth one
// panel of B fills about two thirds of a 48 KiB L1 cache.
constexpr int64_t kBlockK = 256;
// Number of rows of a block of A. With a depth of kBlockK they take 128 KiB of
// the L2 cache. While a block is multiplied, all of B is read from the L2 or L3
// cache; with more rows per block B is read less often.
constexpr int64_t kBlockM = 126;
// If A has at most this many rows, all of them form one block.
constexpr int64_t kMaxBlockM = 224;

// Largest value of m, n and k, and of those products of two of them that are
// sizes of packed operands, blocks or results. Larger contractions are run as
// strips. So all strides and sizes of a contraction fit in 64 bits, even after
// rounding up to panels, and the affine forms of its indices stay within
// kMaxReach (stage_analysis.h).
constexpr int64_t kMaxElements = int64_t{1} << 42;

int64_t Product(const StageAnalysis& analysis, const std::vector<int>& axes) {
  int64_t product = 1;
  for (int axis : axes) product *= analysis.axes[axis].extent;
  return product;
}

DType ComputeDType(DType type) {
  switch (type) {
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3FN:
    case DType::kF8E5M2:
    case DType::kF32:
      return DType::kF32;
    case DType::kF64:
      return DType::kF64;
    default:
      return DType::kI32;
  }
}

bool IsContractionType(DType type) {
  return IsFloat(type) || type == DType::kI32 || type == DType::kU32;
}

// Sets the affine form's coefficients of the axes such that the form is `unit`
// times the axes' row-major flat index.
void AddFlatIndex(const StageAnalysis& analysis, const std::vector<int>& axes,
                  int64_t unit, Affine& form) {
  for (size_t i = axes.size(); i-- > 0;) {
    form.coefficients[axes[i]] = unit;
    unit *= analysis.axes[axes[i]].extent;
  }
}

// Returns the factor s if the affine form is s times the row-major flat index
// of the axes, and -1 if it is not. Without axes it returns 0.
int64_t FlatStride(const StageAnalysis& analysis, const std::vector<int>& axes,
                   const Affine& form) {
  if (axes.empty()) return 0;
  // Multiplying `expected` cannot overflow: each product is compared with a
  // coefficient of the form before it is multiplied again.
  int64_t expected = form.coefficients[axes.back()];
  for (size_t i = axes.size(); i-- > 0;) {
    if (form.coefficients[axes[i]] != expected) return -1;
    expected *= analysis.axes[axes[i]].extent;
  }
  return form.coefficients[axes.back()];
}

// Returns the number of points of those batch axes on which B depends. B is
// packed once for each of these points.
int64_t BatchesOfB(const StageAnalysis& analysis, const ContractionAxes& axes) {
  int64_t batches = 1;
  for (const std::vector<int>* list : {&axes.outer_batch, &axes.inner_batch}) {
    for (int axis : *list) {
      if (analysis.AxesOf(axes.b) >> axis & 1)
        batches *= analysis.axes[axis].extent;
    }
  }
  return batches;
}

}  // namespace

std::optional<ContractionAxes> RecogniseContraction(
    const StageAnalysis& analysis) {
  const tensor::Stage& stage = analysis.stage();
  if (stage.combiner != Combiner::kSum || analysis.IsHeader(stage.values[0]))
    return std::nullopt;
  const Instruction& value = analysis.dispatch->instructions[stage.values[0]];
  if (value.opcode != Opcode::kMultiply || !IsContractionType(value.type))
    return std::nullopt;
  if (analysis.needs_order) return std::nullopt;
  ContractionAxes axes;
  axes.a = value.a;
  axes.b = value.b;
  const auto varies = [&](Register r, int axis) {
    return (analysis.AxesOf(r) >> axis & 1) != 0;
  };
  int last = analysis.spatial_count - 1;
  while (last >= 0 && analysis.axes[last].extent == 1) --last;
  if (last < 0 || varies(axes.a, last) == varies(axes.b, last))
    return std::nullopt;
  if (varies(axes.a, last)) std::swap(axes.a, axes.b);
  // The roles of axes are assigned from the last spatial axis backwards: first
  // N axes, then inner batch, then M; the remaining axes are outer batch.
  int part = 0;
  axes.first_n = analysis.spatial_count;
  for (int i = last; i >= 0; --i) {
    if (analysis.axes[i].extent == 1) continue;
    const bool in_a = varies(axes.a, i), in_b = varies(axes.b, i);
    if (part == 0 && !(in_b && !in_a)) part = 1;
    if (part == 1 && in_a && !in_b) part = 2;
    if (part == 2 && !(in_a && !in_b)) part = 3;
    std::vector<int>* const parts[] = {&axes.n, &axes.inner_batch, &axes.m,
                                       &axes.outer_batch};
    parts[part]->insert(parts[part]->begin(), i);
    if (part == 0) axes.first_n = i;
  }
  for (size_t i = analysis.spatial_count; i < analysis.axes.size(); ++i) {
    if (analysis.axes[i].extent != 1) axes.k.push_back(static_cast<int>(i));
  }
  const int64_t m = Product(analysis, axes.m), n = Product(analysis, axes.n);
  const int64_t k = Product(analysis, axes.k);
  if (m < 4 || n < 8 || k < 4 || analysis.SpatialPoints() == 0)
    return std::nullopt;
  // The limits are checked in floating point, because integer products could
  // overflow.
  const auto most = static_cast<double>(kMaxElements);
  const auto size = [](int64_t a, int64_t b) {
    return static_cast<double>(a) * static_cast<double>(b);
  };
  if (size(m, n) > most || size(m, k) > most ||
      size(n, k) * static_cast<double>(BatchesOfB(analysis, axes)) > most) {
    return std::nullopt;
  }
  return axes;
}

// Replaces the only load of A that has guards (checks for padding) by a load
// from a padded copy of its buffer. Loads from the copy need no checks, so the
// axes of a convolution's windows combine to long rows.
Status Contraction::PlanPadding(StageAnalysis& analysis,
                                const ContractionAxes& axes,
                                const std::function<bool(int)>& may_copy) {
  const tensor::Stage& stage = analysis.stage();
  StripSpec spec;
  spec.values = {axes.a};
  const Access* guarded = nullptr;
  for (const Access* access : CollectUses(analysis, spec).loads) {
    if (access->guards.empty()) continue;
    if (guarded != nullptr) return OkStatus();
    guarded = access;
  }
  if (guarded == nullptr || !may_copy(guarded->buffer)) return OkStatus();
  const int index = static_cast<int>(guarded - analysis.accesses.data());
  Register r = stage.begin;
  while (analysis.ValueOf(r).access != index) ++r;
  const Instruction& pad = analysis.dispatch->instructions[r];
  if (analysis.IsHeader(pad.c)) {
    pad_default_ = analysis.header->values[pad.c];
  } else if (analysis.dispatch->instructions[pad.c].opcode ==
             Opcode::kConstant) {
    pad_default_ = ConstantTile(
        analysis.dispatch->instructions[pad.c].immediate, pad.type);
  } else {
    return OkStatus();
  }

  // In dimensions with a guard the copy has the range of the index, which
  // includes padding. In all other dimensions it has the whole extent.
  const std::vector<int64_t>& extents =
      analysis.header->extents[guarded->buffer];
  const size_t rank = extents.size();
  std::vector<Affine> forms(rank);
  std::vector<tensor::Interval> ranges(rank);
  int64_t size = 1;
  for (size_t d = 0; d < rank; ++d) {
    const Register operand = analysis.dispatch->operands[pad.b + d];
    if (analysis.IsHeader(operand)) {
      forms[d].constant =
          static_cast<int64_t>(analysis.header->values[operand]);
    } else {
      forms[d] = analysis.ValueOf(operand).form;
    }
    const tensor::Interval asked = analysis.IsHeader(operand)
                                       ? tensor::Interval::Of(forms[d].constant)
                                       : analysis.ValueOf(operand).range;
    ranges[d] = {0, extents[d] - 1};
    if (!asked.Within(ranges[d])) ranges[d] = asked;
    // The range is checked before sizes are computed from it. No copy is made
    // if the range is completely outside of the buffer, or if the copy would be
    // too large.
    const int64_t width =
        std::max<int64_t>(ranges[d].high - ranges[d].low + 1, 1);
    if (ranges[d].low >= extents[d] || ranges[d].high < 0 ||
        __builtin_mul_overflow(size, width, &size) || size > kMaxElements) {
      return OkStatus();
    }
  }
  // No padded copy of the operand is made if it would be much larger than the
  // operand's buffer, or than the work of the contraction, because a run's
  // limit counts only that work.
  const int64_t points = analysis.SpatialPoints() *
                         std::max<int64_t>(analysis.ReductionPoints(), 1);
  if (size / 4 > analysis.header->elements[guarded->buffer] + 1024 ||
      size / 4 > points)
    return OkStatus();

  StageAnalysis dims;  // an analysis that describes the copying; its axes are
                       // the dimensions of the copy
  dims.dispatch = analysis.dispatch;
  dims.header = analysis.header;
  dims.number = analysis.number;
  dims.spatial_count = static_cast<int>(rank);
  Access from, to, moved;
  from.buffer = guarded->buffer;
  moved.buffer = to.buffer = first_buffer_ + kPaddedA;
  int64_t from_stride = 1, to_stride = 1;
  dims.axes.resize(rank);
  for (size_t d = rank; d-- > 0;) {
    // The strip program that makes the copy moves only elements inside of the
    // buffer. Elements outside keep the default value, with which the copy is
    // filled before.
    const tensor::Interval range = ranges[d], inside{0, extents[d] - 1};
    const int64_t first = std::max(range.low, inside.low);
    const int64_t last = std::min(range.high, inside.high);
    dims.axes[d].extent = std::max<int64_t>(last - first + 1, 0);
    padded_inside_ *= dims.axes[d].extent;
    from.offset.constant += first * from_stride;
    from.offset.coefficients[d] = from_stride;
    to.offset.constant += (first - range.low) * to_stride;
    to.offset.coefficients[d] = to_stride;
    moved.offset.constant += (forms[d].constant - range.low) * to_stride;
    for (int i = 0; i < kMaxAxes; ++i) {
      moved.offset.coefficients[i] += forms[d].coefficients[i] * to_stride;
    }
    from_stride *= extents[d];
    to_stride *= range.high - range.low + 1;
  }

  StripSpec copy;
  copy.segments.resize(1);
  for (size_t d = 0; d < extents.size(); ++d)
    copy.segments[0].push_back(static_cast<int>(d));
  copy.source = &from;
  copy.source_type = pad.type;
  copy.stores = {{to, pad.type, tensor::Update::kAssign}};
  EMBER_ASSIGN_OR_RETURN(pad_, CompileStrips(dims, copy));
  pad_type_ = pad.type;
  padded_bytes_ = to_stride * DTypeByteSize(pad.type);
  analysis.accesses[index] = moved;
  return OkStatus();
}

bool Contraction::FillPadding(char* padded, const Interrupt* interrupt) const {
  constexpr int64_t kAtOnce = int64_t{1} << 18;
  uint64_t otherwise = pad_default_;
  const int64_t size = DTypeByteSize(pad_type_);
  const int64_t elements = padded_bytes_ / size;
  TileArguments t = {};
  t.rows = 1;
  t.a = {reinterpret_cast<char*>(&otherwise), 0, 0};
  for (int64_t begin = 0; begin < elements; begin += kAtOnce) {
    if (interrupt != nullptr && interrupt->ShouldStop()) return false;
    t.columns = std::min(kAtOnce, elements - begin);
    t.destination = {padded + begin * size, 0, 1};
    HostKernels().store[static_cast<int>(pad_type_)](t);
  }
  return true;
}

// Chooses the depth of blocks of K, so that they are nearly equal. K axes of A
// that are contiguous in memory form a run: a block consists of whole runs, or
// a run is divided into equal blocks.
void Contraction::ChooseBlocks(const StageAnalysis& analysis,
                               const ContractionAxes& axes) {
  StripSpec spec;
  spec.values = {axes.a};
  const StripUses uses = CollectUses(analysis, spec);
  int64_t run = analysis.axes[axes.k.back()].extent;
  for (size_t i = axes.k.size() - 1; i > 0; --i) {
    const int outer = axes.k[i - 1], inner = axes.k[i];
    const int64_t extent = analysis.axes[inner].extent;
    const bool nests = std::all_of(uses.forms.begin(), uses.forms.end(),
                                   [&](const Affine* form) {
                                     return form->coefficients[outer] ==
                                            form->coefficients[inner] * extent;
                                   });
    if (!nests) break;
    run *= analysis.axes[outer].extent;
  }
  const int64_t most = kBlockK + kBlockK / 4;
  if (run >= most) {
    const int64_t parts = DivideRoundingUp(run, kBlockK);
    block_k_ = DivideRoundingUp(run, parts);
  } else {
    const int64_t blocks = DivideRoundingUp(k_, most);
    block_k_ =
        std::min(RoundUp(DivideRoundingUp(k_, blocks), run), most / run * run);
  }
  // The row stride of packed A is at least 64 bytes larger than a row, because
  // rows whose distance is a power of two would share few sets of the cache.
  a_stride_ = block_k_ + 64 / size_;
  a_stride_ = (a_stride_ + 7) / 8 * 8;
}

void Contraction::FindPlainA(const StageAnalysis& analysis,
                             const ContractionAxes& axes,
                             std::span<const int> batch) {
  if (analysis.IsHeader(axes.a) || analysis.ValueOf(axes.a).access < 0) return;
  if (analysis.dispatch->instructions[axes.a].type != type_) return;
  const Access& access = analysis.accesses[analysis.ValueOf(axes.a).access];
  if (!access.dynamic.empty() || !access.guards.empty()) return;
  a_stride_m_ = FlatStride(analysis, axes.m, access.offset);
  if (FlatStride(analysis, axes.k, access.offset) != 1 || a_stride_m_ < 0)
    return;
  // A is packed, and not read in place, if the distance of its rows is a
  // multiple of 2 KiB, because such rows share a few sets of the L1 cache.
  if (a_stride_m_ * size_ % 2048 == 0) return;
  a_in_place_ = true;
  a_buffer_ = access.buffer;
  a_constant_ = access.offset.constant;
  for (size_t i = 0; i < batch.size(); ++i) {
    batch_axes_[i].a_stride = access.offset.coefficients[batch[i]];
  }
}

StatusOr<Contraction> Contraction::Make(
    const StageAnalysis& original, const ContractionAxes& axes,
    const std::function<bool(int)>& may_copy) {
  StageAnalysis analysis = original;
  const tensor::Stage& stage = analysis.stage();
  const DType value_type =
      analysis.dispatch->instructions[stage.values[0]].type;
  Contraction c;
  c.type_ = ComputeDType(value_type);
  c.size_ = DTypeByteSize(c.type_);
  c.micro_ = &HostKernels().products.micro[c.type_ == DType::kF32   ? 0
                                           : c.type_ == DType::kF64 ? 1
                                                                    : 2];
  c.outer_batch_ = Product(analysis, axes.outer_batch);
  c.inner_batch_ = Product(analysis, axes.inner_batch);
  c.m_ = Product(analysis, axes.m);
  c.n_ = Product(analysis, axes.n);
  c.k_ = Product(analysis, axes.k);
  c.first_buffer_ = static_cast<int>(analysis.dispatch->buffers.size());

  EMBER_RETURN_IF_ERROR(c.PlanPadding(analysis, axes, may_copy));
  c.ChooseBlocks(analysis, axes);
  const int64_t most_rows = c.m_ <= kMaxBlockM ? kMaxBlockM : kBlockM;
  const int64_t height = c.micro_->rows;
  c.block_m_ = std::min(most_rows / height * height, RoundUp(c.m_, height));
  c.panel_width_ = kMicroVectors * c.micro_->vector_elements;
  c.panels_ = DivideRoundingUp(c.n_, c.panel_width_);

  // All batch axes, the outer ones first. The loop below computes the distances
  // in B and C along each of them.
  std::vector<int> batch = axes.outer_batch;
  batch.insert(batch.end(), axes.inner_batch.begin(), axes.inner_batch.end());
  const Access& store = analysis.stores[0];
  c.batch_axes_.resize(batch.size());
  std::vector<int> b_batch;
  for (size_t i = batch.size(); i-- > 0;) {
    const bool in_b = (analysis.AxesOf(axes.b) >> batch[i] & 1) != 0;
    const int64_t extent = analysis.axes[batch[i]].extent;
    c.batch_axes_[i] = {extent, in_b ? c.b_batch_ : 0,
                        store.offset.coefficients[batch[i]], 0};
    if (!in_b) continue;
    c.b_batch_ *= extent;
    b_batch.insert(b_batch.begin(), batch[i]);
  }
  c.packed_b_bytes_ = c.b_batch_ * c.panels_ * c.panel_width_ * c.k_ * c.size_;

  c.FindPlainA(analysis, axes, batch);
  StripSpec a;
  a.segments = {batch, axes.m, axes.k};
  a.most_points = {1, c.block_m_, c.block_k_};
  a.values = {axes.a};
  a.stores.resize(1);
  a.stores[0].type = c.type_;
  a.stores[0].access.buffer = c.first_buffer_ + kPackedA;
  AddFlatIndex(analysis, axes.m, c.a_stride_, a.stores[0].access.offset);
  AddFlatIndex(analysis, axes.k, 1, a.stores[0].access.offset);
  EMBER_ASSIGN_OR_RETURN(c.pack_a_, CompileStrips(analysis, a));

  StripSpec b;
  b.segments = {b_batch, axes.n, axes.k};
  b.most_points = {1, c.panel_width_, c.block_k_};
  b.values = {axes.b};
  b.stores.resize(1);
  b.stores[0].type = c.type_;
  b.stores[0].access.buffer = c.first_buffer_ + kPackedB;
  AddFlatIndex(analysis, axes.n, 1, b.stores[0].access.offset);
  AddFlatIndex(analysis, axes.k, c.panel_width_, b.stores[0].access.offset);
  EMBER_ASSIGN_OR_RETURN(c.pack_b_, CompileStrips(analysis, b));

  const DType stored = analysis.dispatch->buffers[stage.stores[0].buffer].type;
  const bool plain = store.dynamic.empty() &&
                     stage.stores[0].update == tensor::Update::kAssign &&
                     DTypeByteSize(stored) == c.size_ && stored == value_type;
  c.c_stride_m_ = FlatStride(analysis, axes.m, store.offset);
  c.carries_ = c.type_ != DType::kI32 &&
               DivideRoundingUp(c.k_, c.block_k_) > tensor::kMaxPlainBlocks;
  c.direct_ = !c.carries_ && plain &&
              FlatStride(analysis, axes.n, store.offset) == 1 &&
              c.c_stride_m_ >= 0;
  c.c_buffer_ = store.buffer;
  c.c_constant_ = store.offset.constant;
  if (!c.direct_) {
    Access block;
    block.buffer = c.first_buffer_ + kBlockC;
    c.c_stride_m_ = c.panels_ * c.panel_width_;
    AddFlatIndex(analysis, axes.m, c.c_stride_m_, block.offset);
    AddFlatIndex(analysis, axes.n, 1, block.offset);
    StripSpec copy;
    copy.segments = {batch, axes.m, axes.n};
    copy.most_points = {1, c.block_m_, c.n_};
    copy.source = &block;
    copy.source_type = c.type_;
    copy.stores = {{store, stored, stage.stores[0].update}};
    EMBER_ASSIGN_OR_RETURN(c.copy_c_, CompileStrips(analysis, copy));
  }
  return c;
}

int64_t Contraction::scratch_bytes() const {
  const int64_t strips = std::max({pack_a_.scratch_bytes, pack_b_.scratch_bytes,
                                   copy_c_.scratch_bytes, pad_.scratch_bytes});
  const int64_t c_block = (carries_ ? 3 : 1) * block_c_bytes();
  return strips + block_m_ * a_stride_ * size_ + c_block + 3 * 64;
}

size_t Contraction::register_count() const {
  return std::max({pack_a_.register_count(), pack_b_.register_count(),
                   copy_c_.register_count(), pad_.register_count()});
}

double Contraction::cost() const {
  return 0.02 * static_cast<double>(outer_batch_ * inner_batch_) *
         static_cast<double>(m_) * static_cast<double>(n_) *
         static_cast<double>(k_);
}

std::string Contraction::Describe() const {
  std::string text = Concat({"contraction m=", m_, " n=", n_, " k=", k_});
  const int64_t batch = outer_batch_ * inner_batch_;
  if (batch > 1) text += Concat({" batch=", batch});
  text += Concat({" ", DTypeName(type_)});
  text += a_in_place_
              ? " a in place"
              : Concat({" a ", pack_a_.max_rows, "x", pack_a_.max_columns});
  if (padded_bytes_ > 0) text += " padded";
  if (!direct_) text += " converted";
  return text;
}

}  // namespace ember::vm
