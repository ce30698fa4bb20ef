#include "jit/llvm/emit/strided_access.h"

#include <algorithm>
#include <vector>

namespace ember::jit::llvm_ir {

using llvm::Value;

namespace {

// Largest stride, in elements, for which lanes are taken out of contiguous
// loads. With a larger stride most of the loaded elements would not be needed.
constexpr int64_t kMaxStride = 4;

// One contiguous access: `first` is the number of its first element, counted
// from the first lane's element. `lane_of` has the lane of each of its
// elements, or -1.
struct Chunk {
  int64_t first = 0;
  std::vector<int> lane_of;
};

std::vector<Chunk> ChunksOf(int64_t stride, int lanes) {
  const int64_t last = stride * (lanes - 1);
  std::vector<Chunk> chunks;
  int lane = 0;
  while (lane < lanes) {
    // The last chunk ends with the last lane's element, because the elements
    // after that may not exist.
    const int64_t first = std::min(lane * stride, last - lanes + 1);
    Chunk chunk{first, std::vector<int>(static_cast<size_t>(lanes), -1)};
    for (; lane < lanes && lane * stride < first + lanes; ++lane)
      chunk.lane_of[static_cast<size_t>(lane * stride - first)] = lane;
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

// Returns the mask for the elements of a chunk. `mask`: the mask of the lanes,
// or null if all lanes are accessed.
Value* MaskOf(Builder& b, const Chunk& chunk, Value* mask) {
  const int lanes = static_cast<int>(chunk.lane_of.size());
  auto* const type =
      llvm::FixedVectorType::get(b.getInt1Ty(), static_cast<unsigned>(lanes));
  if (mask == nullptr) mask = llvm::Constant::getAllOnesValue(type);
  std::vector<int> from;
  for (const int lane : chunk.lane_of) from.push_back(lane < 0 ? lanes : lane);
  return b.CreateShuffleVector(mask, llvm::Constant::getNullValue(type), from);
}

}  // namespace

bool IsNarrowStride(int64_t stride, int lanes) {
  return stride >= 2 && stride <= kMaxStride && 2 * stride <= lanes;
}

Value* LoadStrided(Builder& b, int64_t stride, int lanes, Value* mask,
                   const std::function<Value*(int64_t, Value*)>& load) {
  Value* result = nullptr;
  std::vector<int> places(static_cast<size_t>(lanes), llvm::PoisonMaskElem);
  for (const Chunk& chunk : ChunksOf(stride, lanes)) {
    Value* const part =
        load(chunk.first, mask ? MaskOf(b, chunk, mask) : nullptr);
    for (int i = 0; i < lanes; ++i) {
      const int lane = chunk.lane_of[static_cast<size_t>(i)];
      if (lane >= 0)
        places[static_cast<size_t>(lane)] = result == nullptr ? i : lanes + i;
    }
    result =
        b.CreateShuffleVector(result == nullptr ? part : result, part, places);
    for (int i = 0; i < lanes; ++i) {
      int& place = places[static_cast<size_t>(i)];
      if (place != llvm::PoisonMaskElem) place = i;
    }
  }
  return result;
}

void StoreStrided(Builder& b, int64_t stride, int lanes, Value* value,
                  Value* mask,
                  const std::function<void(int64_t, Value*, Value*)>& store) {
  for (const Chunk& chunk : ChunksOf(stride, lanes)) {
    std::vector<int> from;
    for (const int lane : chunk.lane_of)
      from.push_back(lane < 0 ? llvm::PoisonMaskElem : lane);
    store(chunk.first, b.CreateShuffleVector(value, from),
          MaskOf(b, chunk, mask));
  }
}

}  // namespace ember::jit::llvm_ir
