// Makes the values of a random dispatch's stages: expressions of loads,
// constants and indices. Internal to MakeRandomCase, whose generator adds the
// stages.
#ifndef EMBER_TENSOR_TESTING_RANDOM_STAGE_VALUES_H_
#define EMBER_TENSOR_TESTING_RANDOM_STAGE_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/builder/builder.h"
#include "tensor/testing/random_dispatch.h"
#include "tensor/testing/random_grid.h"

namespace ember::tensor {

struct BufferInfo {
  int number = 0;
  DType type = DType::kF32;
  std::vector<Extent> extents;
  bool small_values =
      // True if the buffer's elements are integers of at most 4 bits, so that
      // sums of them are exact.
      false;
  // The buffer's shape in axes of the case's grid, if it was made on the grid.
  std::optional<GridShape> shape;
};

class RandomStageValues : protected RandomChoices {
 protected:
  RandomStageValues(uint64_t seed, const RandomOptions& options)
      : RandomChoices(seed),
        options_(options),
        builder_("random_" + std::to_string(seed), options.simplify) {}

  Scalar Constant(DType type);
  // Returns a random index expression of axes and constants. Most of its values
  // are in 0..extent - 1, but some may be out of range.
  Scalar RoughIndex();
  // Returns a random index expression that is surely in 0..extent - 1. The
  // extent is not 0.
  Scalar IndexWithin(const Extent& extent);
  // Returns an element loaded from a random integer buffer, as an index for a
  // gather. Returns nullopt if the chosen buffer has no integers or no
  // elements.
  std::optional<Scalar> GatheredIndex();
  static bool HasNoElements(const BufferInfo& buffer);
  Scalar LoadOf(const BufferInfo& source);
  // Returns the default value for a pad: zero, a constant, a value that is
  // known only when the dispatch runs, or a value that differs from point to
  // point.
  Scalar PadValue(DType type);
  // Returns a value of a float type that is an integer of few bits, so that
  // sums of products of such values are exact.
  Scalar SmallValue(DType type);
  Scalar Leaf(DType type);
  Scalar Condition(int depth);
  Scalar Value(DType type, int depth);
  Scalar UnaryValue(DType type, int depth);
  Scalar BinaryValue(DType type, int depth);

  const RandomOptions options_;
  DispatchBuilder builder_;
  std::vector<Extent> parameters_;
  std::vector<BufferInfo> loadable_;
  StageBuilder* stage_ = nullptr;
  std::vector<Extent> axes_;  // axes of the current stage
  std::optional<RandomGrid> grid_;
  bool special_inputs_ = false;
  // is_on_grid_: true if the current stage's axes are made from those of the
  // grid. point_ then holds the values of the grid's axes in this stage.
  bool is_on_grid_ = false;
  GridPoint point_;

 private:
  int pad_depth_ = 0;
  bool pads_are_small_ = false;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_RANDOM_STAGE_VALUES_H_
