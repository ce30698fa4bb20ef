#include "vm/interpreter/contraction.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "tensor/sum_error.h"
#include "vm/interpreter/kernel_selection.h"

namespace ember::vm {
namespace {

// Number of panels of B (groups of panel_width_ columns) whose products are
// computed between two checks of the interrupt. With the largest blocks this
// takes about a hundred microseconds.
constexpr int64_t kPanelsPerQuestion = 8;

// Number of elements in one piece of the work that makes the padded copy of A.
constexpr int64_t kPadPiece = 32 * 1024;

bool ShouldStop(const StripContext& context) {
  return context.failure->found ||
         (context.interrupt != nullptr && context.interrupt->ShouldStop());
}

char* AlignUp(char* pointer) {
  return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(pointer) + 63) /
                                 64 * 64);
}

}  // namespace

int64_t Contraction::BatchOfB(int64_t batch) const {
  int64_t result = 0;
  for (size_t i = batch_axes_.size(); i-- > 0; batch /= batch_axes_[i].extent) {
    result += batch % batch_axes_[i].extent * batch_axes_[i].b_stride;
  }
  return result;
}

int64_t Contraction::OffsetOfC(int64_t batch) const {
  int64_t result = c_constant_;
  for (size_t i = batch_axes_.size(); i-- > 0; batch /= batch_axes_[i].extent) {
    result += batch % batch_axes_[i].extent * batch_axes_[i].c_stride;
  }
  return result;
}

int64_t Contraction::OffsetOfA(int64_t batch) const {
  int64_t result = a_constant_;
  for (size_t i = batch_axes_.size(); i-- > 0; batch /= batch_axes_[i].extent) {
    result += batch % batch_axes_[i].extent * batch_axes_[i].a_stride;
  }
  return result;
}

void Contraction::PackPiece(Work work, int64_t piece) const {
  work.context.scratch = work.scratch;
  PackB(work, piece / panels_, piece % panels_);
}

int64_t Contraction::pad_pieces() const {
  return padded_bytes_ == 0 ? 0 : DivideRoundingUp(padded_inside_, kPadPiece);
}

void Contraction::PadPiece(Work work, int64_t piece) const {
  work.context.scratch = work.scratch;
  work.buffers[first_buffer_ + kPaddedA] = work.padded;
  const FlatRange range = {piece * kPadPiece,
                           std::min(padded_inside_, (piece + 1) * kPadPiece)};
  RunStrips(pad_, work.context, std::span(&range, 1));
}

void Contraction::PackB(const Work& work, int64_t batch, int64_t panel) const {
  const int64_t n0 = panel * panel_width_;
  const int64_t n1 = std::min(n_, n0 + panel_width_);
  char* packed = work.packed_b + batch * panels_ * panel_width_ * k_ * size_;
  for (int64_t k0 = 0; k0 < k_; k0 += block_k_) {
    const int64_t k1 = std::min(k_, k0 + block_k_);
    char* block =
        packed + (k0 * panels_ + panel * (k1 - k0)) * panel_width_ * size_;
    if (n1 - n0 < panel_width_) {
      std::memset(block, 0,
                  static_cast<size_t>((k1 - k0) * panel_width_ * size_));
    }
    work.buffers[first_buffer_ + kPackedB] =
        Advance(block, -(n0 + k0 * panel_width_) * size_);
    const FlatRange ranges[] = {{batch, batch + 1}, {n0, n1}, {k0, k1}};
    RunStrips(pack_b_, work.context, ranges);
    if (ShouldStop(work.context)) return;
  }
}

void Contraction::RunRows(Work work, int64_t begin, int64_t end) const {
  work.buffers[first_buffer_ + kPaddedA] = work.padded;
  while (begin < end) {
    const int64_t outer = begin / m_;
    const int64_t first = begin - outer * m_;
    const int64_t last = std::min(m_, first + end - begin);
    for (int64_t inner = 0; inner < inner_batch_; ++inner) {
      if (ShouldStop(work.context)) return;
      Multiply(work, outer * inner_batch_ + inner, first, last);
    }
    begin += last - first;
  }
}

void Contraction::Multiply(Work& work, int64_t batch, int64_t begin,
                           int64_t end) const {
  // The rows of C are split into blocks of nearly equal size, each of which
  // consists of whole register blocks.
  const int64_t blocks = DivideRoundingUp(end - begin, block_m_);
  int64_t step = DivideRoundingUp(end - begin, blocks);
  step = RoundUp(step, micro_->rows);
  for (int64_t m = begin; m < end; m += step) {
    MultiplyBlock(work, batch, m, std::min(end, m + step));
    if (ShouldStop(work.context)) return;
  }
}

void Contraction::RunTotals(TileKernel kernel, char* c, int64_t rows) const {
  const auto at = [&](int64_t block) {
    return TileOperand{c + block * block_c_bytes(), c_stride_m_ * size_, 1};
  };
  TileArguments t = {};
  t.rows = rows;
  t.columns = n_;
  t.destination = at(0);
  t.a = at(1);
  t.b = at(2);
  kernel(t);
}

void Contraction::MultiplyBlock(Work& work, int64_t batch, int64_t begin,
                                int64_t end) const {
  char* a = AlignUp(work.scratch);
  char* c = AlignUp(a + block_m_ * a_stride_ * size_);
  const int64_t blocks_of_c = carries_ ? 3 : 1;
  work.context.scratch = AlignUp(c + blocks_of_c * block_c_bytes());
  const int wide = type_ == DType::kF64;
  if (carries_) {
    std::memset(c + block_c_bytes(), 0,
                static_cast<size_t>(2 * block_c_bytes()));
  }
  if (direct_) {
    c = Advance(work.buffers[c_buffer_],
                (OffsetOfC(batch) + begin * c_stride_m_) * size_);
  }
  const char* b =
      work.packed_b + BatchOfB(batch) * panels_ * panel_width_ * k_ * size_;
  MicroArguments t;
  t.a_stride = a_in_place_ ? a_stride_m_ : a_stride_;
  t.b_stride = panel_width_;
  t.c_stride = c_stride_m_;
  int64_t summed = 0;  // number of blocks of K whose products were added to C
                       // since its sums were last carried to the totals
  for (int64_t k0 = 0; k0 < k_; k0 += block_k_) {
    const int64_t depth = std::min(k_ - k0, block_k_);
    const char* left = a;
    if (a_in_place_) {
      left = Advance(work.buffers[a_buffer_],
                     (OffsetOfA(batch) + begin * a_stride_m_ + k0) * size_);
    } else {
      work.buffers[first_buffer_ + kPackedA] =
          Advance(a, -(begin * a_stride_ + k0) * size_);
      const FlatRange ranges[] = {
          {batch, batch + 1}, {begin, end}, {k0, k0 + depth}};
      RunStrips(pack_a_, work.context, ranges);
    }
    t.depth = depth;
    t.accumulate = summed > 0;
    for (int64_t panel = 0; panel < panels_; ++panel) {
      if (panel % kPanelsPerQuestion == 0 && ShouldStop(work.context)) return;
      const int64_t columns = std::min(n_ - panel * panel_width_, panel_width_);
      const MicroKernel* run =
          micro_->run[columns <= micro_->vector_elements ? 0 : 1];
      t.b = b + (k0 * panels_ + panel * depth) * panel_width_ * size_;
      t.columns = columns;
      // The block's rows are split into register blocks (rows whose sums are in
      // registers) of nearly equal height, because a last block of few rows
      // would take almost as long as a full one.
      const int64_t rows = end - begin;
      const int64_t blocks = DivideRoundingUp(rows, micro_->rows);
      for (int64_t block = 0, m = 0, height; block < blocks;
           ++block, m += height) {
        height = rows / blocks + (block < rows % blocks);
        // One register block of each panel prefetches the next panel of B,
        // while it computes with data that is in the cache already.
        t.next =
            block == std::min<int64_t>(1, blocks - 1)
                ? static_cast<const char*>(t.b) + depth * panel_width_ * size_
                : t.b;
        t.a = left + m * t.a_stride * size_;
        t.c = c + (m * c_stride_m_ + panel * panel_width_) * size_;
        run[height - 1](t);
      }
    }
    if (++summed == tensor::kMaxPlainBlocks && carries_) {
      RunTotals(HostKernels().carry_sum[wide], c, end - begin);
      summed = 0;
    }
  }
  if (carries_) {
    RunTotals(HostKernels().finish_sum[wide], c, end - begin);
  }
  if (!direct_) {
    work.buffers[first_buffer_ + kBlockC] =
        Advance(c, -begin * c_stride_m_ * size_);
    const FlatRange ranges[] = {{batch, batch + 1}, {begin, end}, {0, n_}};
    RunStrips(copy_c_, work.context, ranges);
  }
}

}  // namespace ember::vm
