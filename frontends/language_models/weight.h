// A weight of a language model in the layout of its file, and its meaning as
// tensor expressions.
//
//   const Weight w{.packed = constant, .format = BlockFormat::kQ4_0};
//   Tensor e = GatherRows(w, tokens);  // w[tokens[…], :]
//
// `packed` stays a tensor of bytes, u8 [rows, blocks, bytes of a block], which
// is mapped from the file. Unpacking is integer arithmetic on these bytes
// (shifts and masks), and one product with the scale of each group of elements;
// where a format has minima, their negations are added. So a dispatch that
// multiplies by the weight unpacks the elements that it reads. All formats
// share one form (BlockedValues), so that schedules have one expression to
// recognise:
//
//   f32(codes[rows, groups, group]) * scale[rows, groups, 1] (+ offset[…])
//
// Plain floats are a tensor of their own type, [rows, columns]. Weights may
// have more dims in front (experts), or one dim only.
//
// Errors stay in the graph builder (frontends/ops/tensor.h). Does not own; not
// thread-safe. Source of the layouts: ggml-common.h and the reference
// quantization of ggml; of MXFP4 the OCP Microscaling Formats specification,
// version 1.0.
#ifndef EMBER_FRONTENDS_LANGUAGE_MODELS_WEIGHT_H_
#define EMBER_FRONTENDS_LANGUAGE_MODELS_WEIGHT_H_

#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/language_models/block_formats.h"
#include "frontends/ops/tensor.h"

namespace ember::language_models {

using ops::Dim;
using ops::Shape;
using ops::Tensor;

struct Weight {
  // Bytes of blocks, or plain floats; absent for a weight that the model does
  // not have.
  Tensor packed;
  BlockFormat format = BlockFormat::kF32;

  bool present() const { return packed.present(); }
  explicit operator bool() const { return present(); }
  bool is_blocked() const { return InfoOf(format).elements > 1; }
  // Returns the weight's dims, counted in elements.
  Shape shape() const;
  int rank() const { return packed.rank() - (is_blocked() ? 1 : 0); }
  Dim dim(int axis) const;
  // Returns all elements of the weight, unpacked to f32.
  Tensor Values() const;
};

// The parts of a block format's elements, of which the last two dims are
// [groups, elements of a group] or [groups, 1].
struct BlockedValues {
  Tensor codes;  // i8 or u8
  Tensor scale;  // f32
  // f32, which is added after the product with the scale; absent in formats
  // without minima.
  Tensor offset;
};

// Unpacks blocks, u8 […, bytes of a block], of a format that has blocks.
BlockedValues Unpack(Tensor blocks, BlockFormat format);

// Returns the rows of w[rows, columns] at the indices, f32 [dims of indices,
// columns].
Tensor GatherRows(const Weight& w, Tensor indices);
// Returns w[i] for an i64 scalar, for weights of several experts.
Weight SliceFirst(const Weight& w, Tensor index);

}  // namespace ember::language_models

#endif  // EMBER_FRONTENDS_LANGUAGE_MODELS_WEIGHT_H_
