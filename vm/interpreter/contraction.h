// Sums of products as matrix multiplication: C[m, n] = sum(k) A[m, k] * B[k,
// n], for each point of the batch axes, where A and B may be any expressions
// (loads, pads, casts, ...). Recognised from which axes the two factors vary
// with:
//
//   spatial axes of A only: M;  of B only: N;  of both: batch
//   reduction axes: K
//
// The factor that varies with the last spatial axis is B. Both are evaluated by
// strip programs straight into packed panels; the inner kernel is in
// micro_kernels.cc.
//
// Where this differs from the definition: products of f16, bf16 and floats of 8
// bits are not rounded to as many bits before they are added (in f32), and a
// product and its sum may be rounded once instead of twice.
//
// A block of K is one sum; those of many blocks are carried to a total
// (tensor/sum_error.h).
//
// Packed layouts. A block: [rows][a_stride] for a part of K. B, whole: for each
// batch point of B, for each block of K, for each panel of panel_width columns:
// [depth of block][panel_width], the columns beyond N zero.
#ifndef EMBER_VM_INTERPRETER_CONTRACTION_H_
#define EMBER_VM_INTERPRETER_CONTRACTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/interpreter/strip_program.h"

namespace ember::vm {

// Which axes play which part; all in the order of the stage, which is [outer
// batch, M, inner batch, N]. Axes of extent 1 are in none.
struct ContractionAxes {
  std::vector<int> outer_batch, m, inner_batch, n, k;
  tensor::Register a = 0;  // the factors
  tensor::Register b = 0;
  int first_n = 0;  // spatial axes before this one may be rows
};

// Empty if the stage is not a contraction, or one that strips do better.
std::optional<ContractionAxes> RecogniseContraction(
    const StageAnalysis& analysis);

// Memory that the contraction adds to the dispatch's buffers, by number.
enum ContractionBuffer {
  kPackedA,
  kPackedB,
  kBlockC,
  kPaddedA,
  kContractionBuffers
};

class Contraction {
 public:
  // Needs the analysis only during the call. may_copy(buffer): its contents are
  // there before any rows run, so that A's padding may be done in a copy
  // beforehand.
  static StatusOr<Contraction> Make(const StageAnalysis& analysis,
                                    const ContractionAxes& axes,
                                    const std::function<bool(int)>& may_copy);

  int64_t outer_batch_points() const { return outer_batch_; }
  int64_t inner_batch_points() const { return inner_batch_; }
  int64_t m() const { return m_; }
  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  int micro_rows() const { return micro_->rows; }
  // Rows that make reading all of B worth while.
  int64_t wanted_rows() const { return block_m_; }
  int64_t packed_b_bytes() const { return packed_b_bytes_; }
  // B is packed in this many independent pieces, before any rows run.
  int64_t pack_pieces() const { return b_batch_ * panels_; }
  // The padded copy of what A reads, if there is one; made in independent
  // pieces before any rows.
  int64_t padded_bytes() const { return padded_bytes_; }
  int64_t pad_pieces() const;
  int64_t scratch_bytes() const;  // per worker, strip scratch included
  size_t slot_count() const;
  double cost() const;  // rough nanoseconds in all

  // Everything that one call works with. context.buffers has
  // kContractionBuffers entries to spare behind the dispatch's, which the calls
  // below overwrite.
  struct Work {
    StripContext context;
    char** buffers = nullptr;  // the same as context.buffers
    char* scratch = nullptr;   // of scratch_bytes()
    char* packed_b = nullptr;  // of packed_b_bytes(), shared by all workers
    char* padded = nullptr;    // of padded_bytes(), shared by all workers
  };
  void PackPiece(Work work, int64_t piece) const;
  void PadPiece(Work work, int64_t piece) const;
  // Once, before the first run: all of the padded copy is padding.
  // False: the interrupt, which may be null, said stop, and it is not done.
  bool FillPadding(char* padded, const Interrupt* interrupt) const;
  // Rows [begin, end) of the flat space of outer batch and M axes, all inner
  // batch and N.
  void RunRows(Work work, int64_t begin, int64_t end) const;

  std::string Describe() const;

 private:
  Status PlanPadding(StageAnalysis& analysis, const ContractionAxes& axes,
                     const std::function<bool(int)>& may_copy);
  void ChooseBlocks(const StageAnalysis& analysis, const ContractionAxes& axes);
  void PackB(const Work& work, int64_t batch, int64_t panel) const;
  void Multiply(Work& work, int64_t batch, int64_t begin, int64_t end) const;
  void MultiplyBlock(Work& work, int64_t batch, int64_t begin,
                     int64_t end) const;
  // A kernel of long sums on so many rows of the block of C and its totals.
  void RunTotals(TileKernel kernel, char* c, int64_t rows) const;
  int64_t block_c_bytes() const {
    return direct_ ? 0 : block_m_ * c_stride_m_ * size_;
  }
  int64_t BatchOfB(int64_t batch) const;
  int64_t OffsetOfC(int64_t batch) const;
  int64_t OffsetOfA(int64_t batch) const;
  void FindPlainA(const StageAnalysis& analysis, const ContractionAxes& axes,
                  std::span<const int> batch);

  DType type_ = DType::kF32;  // that products are computed in
  int size_ = 4;
  const MicroKernels* micro_ = nullptr;
  int64_t outer_batch_ = 1, inner_batch_ = 1, m_ = 1, n_ = 1, k_ = 1;
  struct BatchAxis {
    int64_t extent;
    int64_t b_stride;  // in batch points of B
    int64_t c_stride;  // in elements, if direct
    int64_t a_stride;  // in elements, if in place
  };
  std::vector<BatchAxis> batch_axes_;
  int64_t b_batch_ = 1;
  int64_t block_k_ = 0;   // depth of a block of K, the last may be smaller
  int64_t block_m_ = 0;   // rows of a block of A
  int64_t a_stride_ = 0;  // elements between rows of a block of A
  int64_t panel_width_ = 0;
  int64_t panels_ = 0;
  int64_t packed_b_bytes_ = 0;
  int first_buffer_ = 0;  // number of kPackedA
  // A is read where it lies, without packing, if it is plain memory with K
  // contiguous.
  bool a_in_place_ = false;
  int a_buffer_ = 0;
  int64_t a_constant_ = 0, a_stride_m_ = 0;
  // Results go straight to the buffer, or through a block of C.
  bool direct_ = false;
  // Float sums of so many blocks of K that they need totals, two blocks like
  // that of C behind it.
  bool carries_ = false;
  int c_buffer_ = 0;
  int64_t c_constant_ = 0, c_stride_m_ = 0;
  int64_t padded_inside_ = 1;  // elements that each run copies
  DType pad_type_ = DType::kF32;
  uint64_t pad_default_ = 0;
  int64_t padded_bytes_ = 0;
  StripProgram pack_a_, pack_b_, copy_c_, pad_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_CONTRACTION_H_
