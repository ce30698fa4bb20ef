// The values of a dispatch's header for given values of the parameters. All
// code that runs a dispatch, plans its execution or estimates its cost gets the
// extents from this class. Evaluate limits their sizes, so later code need not
// check that products of extents fit.
//
//   EMBER_ASSIGN_OR_RETURN(ConcreteHeader header,
//                          ConcreteHeader::Evaluate(dispatch, parameters));
//   int64_t n = header.value(dispatch.buffers[0].extents[0]);
//
// The dispatch must be verified; it need not outlive the header.
// Thread-compatible.
#ifndef EMBER_TENSOR_CONCRETE_HEADER_H_
#define EMBER_TENSOR_CONCRETE_HEADER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// Largest number of bytes of all buffers of a dispatch together, and largest
// number of points of one stage.
inline constexpr int64_t kMaxSize = int64_t{1} << 62;

// The values of the header's registers for given parameters.
class ConcreteHeader {
 public:
  // Evaluates the header. Errors (one line, naming the dispatch): a wrong
  // number of parameters; i64 sums, differences and products that overflow; an
  // extent of a buffer or axis below 0 or above kMaxExtent
  // (tensor/range_rules.h); buffers of more than kMaxSize bytes in all or a
  // stage of more than kMaxSize points. Extents of 0 count as 1 in these
  // products, so that strides do not overflow either.
  static StatusOr<ConcreteHeader> Evaluate(const Dispatch& dispatch,
                                           std::span<const int64_t> parameters);

  // Returns the value of an i64 register of the header.
  int64_t value(Register reg) const { return static_cast<int64_t>(bits_[reg]); }
  // Returns the value of any register of the header, as bits of its type (as in
  // Instruction::immediate).
  uint64_t bits(Register reg) const { return bits_[reg]; }

  std::vector<int64_t> Extents(const Buffer& buffer) const;
  std::vector<int64_t> Extents(std::span<const Axis> axes) const;
  // Returns the number of elements of a buffer.
  int64_t ElementCount(const Buffer& buffer) const;

 private:
  std::vector<uint64_t> bits_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_CONCRETE_HEADER_H_
