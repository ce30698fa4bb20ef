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
      // True if the buffer holds integers of at most 4 bits: sums of them are
      // exact.
      false;
  // the buffer's shape, if it is over the case's grid
  std::optional<GridShape> shape;
};

class RandomStageValues : protected RandomChoices {
 protected:
  RandomStageValues(uint64_t seed, const RandomOptions& options)
      : RandomChoices(seed),
        options_(options),
        builder_("random_" + std::to_string(seed), options.simplify) {}

  Scalar Constant(DType type);
  // Returns an index expression somewhere around 0..extent, from axes and
  // constants.
  Scalar RoughIndex();
  // Returns an index that is in 0..extent - 1 for sure; the extent is not 0.
  Scalar IndexWithin(const Extent& extent);
  // Returns an element of an integer buffer, loaded at a simple place, as an
  // index.
  std::optional<Scalar> GatheredIndex();
  static bool HasNoElements(const BufferInfo& buffer);
  Scalar LoadOf(const BufferInfo& source);
  // Returns a default for a pad: zero, a constant, a value that is known when
  // the dispatch runs, or one that differs from point to point.
  Scalar PadValue(DType type);
  // Returns a float that is an integer of few bits, so that sums of products
  // are exact.
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
  std::vector<Extent> axes_;  // axes of the stage
  std::optional<RandomGrid> grid_;
  bool special_inputs_ = false;
  // True if the stage is on the grid. The next field is then its point there.
  bool is_on_grid_ = false;
  GridPoint point_;

 private:
  int pad_depth_ = 0;
  bool pads_are_small_ = false;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_RANDOM_STAGE_VALUES_H_
