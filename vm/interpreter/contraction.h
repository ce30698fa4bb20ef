// Sums of products as matrix multiplication: C[m, n] = sum(k) A[m, k] * B[k, n]
// for each point of the batch axes. A and B may be any expressions (loads,
// pads, casts, ...). A contraction is recognised by the axes on which its two
// factors depend:
//
//   spatial axes of A only: M;  of B only: N;  of both: batch
//   reduction axes: K
//
// B is the factor that depends on the last spatial axis. Strip programs
// evaluate both factors directly into packed panels; the inner kernel is in
// micro_kernels.cc.
//
// The result differs from the definition in two ways. Products of f16, bf16 and
// floats of 8 bits are not rounded to their type before they are added (in
// f32). A product and its sum may be rounded once instead of twice.
//
// Each block of K has a sum of its own. The sums of many blocks are carried to
// a total (tensor/sum_error.h).
//
// Packed layouts: a block of A is [rows][a_stride] for a part of K. The whole
// of B is, for each batch point of B, each block of K and each panel of
// panel_width columns, [depth of block][panel_width], with zeros in the columns
// beyond N.
#ifndef EMBER_VM_INTERPRETER_CONTRACTION_H_
#define EMBER_VM_INTERPRETER_CONTRACTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vm/interpreter/strip_program.h"

namespace ember::vm {

// The role of each axis. All lists are in the stage's order of axes, which is
// [outer batch, M, inner batch, N]. Axes of extent 1 are in none of the lists.
struct ContractionAxes {
  std::vector<int> outer_batch, m, inner_batch, n, k;
  tensor::Register a = 0;  // registers of the stage that hold the two factors
                           // of the product
  tensor::Register b = 0;
  // Number of the first spatial axis that cannot be an M axis. Rows of the
  // stage may be formed only from axes before it.
  int first_n = 0;
};

// Finds the roles of a stage's axes. Returns nullopt if the stage is not a
// contraction, or if strips run it faster.
std::optional<ContractionAxes> RecogniseContraction(
    const StageAnalysis& analysis);

// Buffers that the contraction uses in addition to those of the dispatch. Their
// numbers follow the numbers of the dispatch's buffers.
enum ContractionBuffer {
  kPackedA,
  kPackedB,
  kBlockC,
  kPaddedA,
  kContractionBuffers
};

class Contraction {
 public:
  // Plans the contraction. `analysis` is used only during the call.
  // may_copy(buffer) returns true if the buffer's contents are complete before
  // any row runs, so that the contraction may read A from a padded copy that is
  // made beforehand.
  static StatusOr<Contraction> Make(const StageAnalysis& analysis,
                                    const ContractionAxes& axes,
                                    const std::function<bool(int)>& may_copy);

  int64_t outer_batch_points() const { return outer_batch_; }
  int64_t inner_batch_points() const { return inner_batch_; }
  int64_t m() const { return m_; }
  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  int micro_rows() const { return micro_->rows; }
  // Returns the number of rows of C that one chunk should compute, so that
  // reading all of B for them pays off.
  int64_t wanted_rows() const { return block_m_; }
  int64_t packed_b_bytes() const { return packed_b_bytes_; }
  // Returns the number of independent pieces of work in which B is packed. All
  // pieces are packed before any rows are computed.
  int64_t pack_pieces() const { return b_batch_ * panels_; }
  // Returns the number of bytes of the padded copy of A's memory; 0: A is not
  // read from a copy. The copy is made in independent pieces before any rows
  // are computed.
  int64_t padded_bytes() const { return padded_bytes_; }
  int64_t pad_pieces() const;
  // Returns the number of bytes of scratch memory per worker, including the
  // strip programs' scratch.
  int64_t scratch_bytes() const;
  size_t register_count() const;
  double cost() const;  // Returns an estimate of the time of the whole
                        // contraction in nanoseconds.

  // The memory of one call. context.buffers has kContractionBuffers unused
  // entries behind the buffers of the dispatch, which the functions below set.
  struct Work {
    StripContext context;
    char** buffers = nullptr;  // the same array as context.buffers, but
                               // writable
    char* scratch = nullptr;   // this worker's scratch memory, of
                               // scratch_bytes() bytes
    // memory of packed_b_bytes() bytes, shared by all workers
    char* packed_b = nullptr;
    // memory of padded_bytes() bytes, shared by all workers
    char* padded = nullptr;
  };
  void PackPiece(Work work, int64_t piece) const;
  void PadPiece(Work work, int64_t piece) const;
  // Fills the padded copy with the default value of the padding. Call it once,
  // before the first run. Returns false if the interrupt, which may be null,
  // stopped it; the copy is then incomplete.
  bool FillPadding(char* padded, const Interrupt* interrupt) const;
  // Runs the rows [begin, end) of the flattened outer batch and M axes, for all
  // points of the inner batch and N axes.
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
  // Calls a kernel of long sums (carry_sum or finish_sum) for `rows` rows of
  // the block of C and its totals.
  void RunTotals(TileKernel kernel, char* c, int64_t rows) const;
  int64_t block_c_bytes() const {
    return direct_ ? 0 : block_m_ * c_stride_m_ * size_;
  }
  int64_t BatchOfB(int64_t batch) const;
  int64_t OffsetOfC(int64_t batch) const;
  int64_t OffsetOfA(int64_t batch) const;
  void FindPlainA(const StageAnalysis& analysis, const ContractionAxes& axes,
                  std::span<const int> batch);

  DType type_ = DType::kF32;  // compute type of the products and their sum
  int size_ = 4;
  const MicroKernels* micro_ = nullptr;
  int64_t outer_batch_ = 1, inner_batch_ = 1, m_ = 1, n_ = 1, k_ = 1;
  struct BatchAxis {
    int64_t extent;
    int64_t b_stride;  // distance between neighbouring points of this batch
                       // axis in packed B, in units of one batch point of B
    // distance in C between neighbouring points of this axis, in elements; used
    // if results are stored directly to the buffer
    int64_t c_stride;
    // distance in A between neighbouring points of this axis, in elements; used
    // if A is read in place
    int64_t a_stride;
  };
  std::vector<BatchAxis> batch_axes_;
  int64_t b_batch_ = 1;
  int64_t block_k_ = 0;   // number of steps along K in one block of K; the last
                          // block may be smaller
  int64_t block_m_ = 0;   // number of rows of A that are packed and multiplied
                          // as one block
  int64_t a_stride_ = 0;  // distance in elements between the rows of a packed
                          // block of A
  int64_t panel_width_ = 0;
  int64_t panels_ = 0;
  int64_t packed_b_bytes_ = 0;
  int first_buffer_ = 0;  // number of the buffer kPackedA, the first additional
                          // one
  // True if A is read in place, without packing, because it is plain memory
  // with K contiguous.
  bool a_in_place_ = false;
  int a_buffer_ = 0;
  int64_t a_constant_ = 0, a_stride_m_ = 0;
  // True if results are stored directly to the buffer. False if they are stored
  // to a block of C first and then copied.
  bool direct_ = false;
  // True if the sum is a float sum of more than kMaxPlainBlocks blocks of K, so
  // that its totals are compensated (tensor/sum_error.h). Their two parts need
  // two more blocks of C's size, which follow the block of C.
  bool carries_ = false;
  int c_buffer_ = 0;
  int64_t c_constant_ = 0, c_stride_m_ = 0;
  // number of elements of A's buffer that lie inside of the padded copy
  int64_t padded_inside_ = 1;
  DType pad_type_ = DType::kF32;
  uint64_t pad_default_ = 0;
  int64_t padded_bytes_ = 0;
  StripProgram pack_a_, pack_b_, copy_c_, pad_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_CONTRACTION_H_
