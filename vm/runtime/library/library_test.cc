#include "vm/runtime/library/library.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "base/dtype.h"
#include "base/interrupt.h"
#include "gtest/gtest.h"
#include "hal/cpu/device.h"

namespace ember::vm {
namespace {

class LibraryTest : public testing::Test {
 protected:
  ~LibraryTest() override { Drop(); }

  template <typename T>
  void Memory(std::vector<T>& values) {
    memory_.push_back({reinterpret_cast<uint8_t*>(values.data()),
                       static_cast<int64_t>(values.size() * sizeof(T)),
                       nullptr});
  }
  Status Call(LibraryFunction function, std::vector<int64_t> integers,
              size_t written = 0, size_t allocated = 0) {
    Drop();
    written_.assign(written, -1);
    allocated_.assign(allocated, {});
    return CallLibrary(function,
                       {integers, memory_, written_, allocated_, pool_, nullptr,
                        &interrupt_, nullptr, images_});
  }
  template <typename T>
  std::vector<T> Allocated(size_t i) const {
    const T* data = reinterpret_cast<const T*>(allocated_[i].data);
    return {data,
            data + allocated_[i].length / static_cast<int64_t>(sizeof(T))};
  }
  void Drop() {
    for (LibraryMemory& memory : allocated_) {
      if (memory.block != nullptr) memory.block->Drop();
    }
    allocated_.clear();
  }

  MemoryPool pool_{*hal::CreateCpuDevice({.threads = 1}), 0};
  std::vector<LibraryMemory> memory_;
  std::vector<int64_t> written_;
  std::vector<LibraryMemory> allocated_;
  Interrupt interrupt_;
  ImageDecoder images_ = nullptr;
};

constexpr int64_t kF32 = static_cast<int64_t>(DType::kF32);
constexpr int64_t kI32 = static_cast<int64_t>(DType::kI32);
constexpr int64_t kU8 = static_cast<int64_t>(DType::kU8);
const float kNan = std::nanf("");

TEST_F(LibraryTest, TopKAlongAnAxis) {
  // These are the elements of a tensor of the shape [1, 4, 2]. The largest ones
  // are selected along the axis of extent 4.
  std::vector<float> x = {1, 9, 5, 2, 5, -7, 3, 9};
  std::vector<float> values(4);
  std::vector<int64_t> indices(4);
  Memory(x);
  Memory(values);
  Memory(indices);
  ASSERT_TRUE(Call(LibraryFunction::kTopK, {kF32, 1, 4, 2, 2, 1}).ok());
  EXPECT_EQ(values, (std::vector<float>{5, 9, 5, 9}));
  EXPECT_EQ(indices, (std::vector<int64_t>{1, 0, 2, 3}))
      << "ties by lower index";
  ASSERT_TRUE(Call(LibraryFunction::kTopK, {kF32, 1, 4, 2, 2, 0}).ok());
  EXPECT_EQ(values, (std::vector<float>{1, -7, 3, 2}));
  EXPECT_EQ(indices, (std::vector<int64_t>{0, 2, 3, 1}));
}

TEST_F(LibraryTest, TopKOrdersNanAndIntegers) {
  std::vector<float> x = {1, kNan, INFINITY, -INFINITY};
  std::vector<float> values(4);
  std::vector<int64_t> indices(4);
  Memory(x);
  Memory(values);
  Memory(indices);
  ASSERT_TRUE(Call(LibraryFunction::kTopK, {kF32, 1, 4, 1, 4, 1}).ok());
  EXPECT_EQ(indices, (std::vector<int64_t>{1, 2, 0, 3}));
  std::vector<int32_t> integers = {-5, 3, INT32_MIN, INT32_MAX};
  std::vector<int32_t> integer_values(4);
  memory_.clear();
  Memory(integers);
  Memory(integer_values);
  Memory(indices);
  ASSERT_TRUE(Call(LibraryFunction::kTopK, {kI32, 1, 4, 1, 4, 0}).ok());
  EXPECT_EQ(integer_values,
            (std::vector<int32_t>{INT32_MIN, -5, 3, INT32_MAX}));
}

TEST_F(LibraryTest, TopKChecksItsArguments) {
  std::vector<float> x(8), values(4);
  std::vector<int64_t> indices(4);
  Memory(x);
  Memory(values);
  Memory(indices);
  const auto error = [&](std::vector<int64_t> integers) {
    return std::string(
        Call(LibraryFunction::kTopK, std::move(integers)).message());
  };
  EXPECT_EQ(error({99, 1, 8, 1, 2, 1}),
            "expected the number of an element type, found 99");
  EXPECT_EQ(error({kF32, 1, 8, 1, 9, 1}), "expected k in [0, n], found 9");
  EXPECT_EQ(error({kF32, 1, 9, 1, 2, 1}),
            "x: expected 9 elements of 4 bytes, found 32 bytes");
  EXPECT_EQ(error({kF32, 1, 8, 1, 5, 1}),
            "values: expected 5 elements of 4 bytes, found 16 bytes");
  EXPECT_EQ(error({kF32, -1, 8, 1, 2, 1}),
            "expected a size of at least 0, found -1");
  EXPECT_EQ(error({kF32, INT64_MAX, 8, INT64_MAX, 2, 1}),
            "expected sizes whose product fits 64 bits");
}

TEST_F(LibraryTest, NonZero) {
  std::vector<float> x = {0, -0.0f, 1, kNan, 0, -3};
  Memory(x);
  ASSERT_TRUE(Call(LibraryFunction::kNonZero, {kF32, 6}, 1, 1).ok());
  EXPECT_EQ(written_[0], 3);
  EXPECT_EQ(Allocated<int64_t>(0), (std::vector<int64_t>{2, 3, 5}));
  EXPECT_FALSE(Call(LibraryFunction::kNonZero, {kF32, 7}, 1, 1).ok());
}

TEST_F(LibraryTest, Unique) {
  std::vector<uint8_t> x = {7, 2, 7, 9, 2, 7};
  Memory(x);
  ASSERT_TRUE(Call(LibraryFunction::kUnique, {kU8, 6, 1, 1}, 1, 4).ok());
  EXPECT_EQ(written_[0], 3);
  EXPECT_EQ(Allocated<uint8_t>(0), (std::vector<uint8_t>{2, 7, 9}));
  EXPECT_EQ(Allocated<int64_t>(1), (std::vector<int64_t>{1, 0, 3}));
  EXPECT_EQ(Allocated<int64_t>(2), (std::vector<int64_t>{1, 0, 1, 2, 0, 1}));
  EXPECT_EQ(Allocated<int64_t>(3), (std::vector<int64_t>{2, 3, 1}));
  ASSERT_TRUE(Call(LibraryFunction::kUnique, {kU8, 6, 1, 0}, 1, 4).ok());
  EXPECT_EQ(Allocated<uint8_t>(0), (std::vector<uint8_t>{7, 2, 9}));
  EXPECT_EQ(Allocated<int64_t>(1), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(Allocated<int64_t>(2), (std::vector<int64_t>{0, 1, 0, 2, 1, 0}));
  EXPECT_EQ(Allocated<int64_t>(3), (std::vector<int64_t>{3, 2, 1}));
}

TEST_F(LibraryTest, NonMaxSuppression) {
  // The boxes are those of the ONNX operator's documentation: six boxes, in two
  // clusters and a separate box.
  std::vector<float> boxes = {0, 0,     1, 1,     0, 0.1f,  1, 1.1f,
                              0, -0.1f, 1, 0.9f,  0, 10.f,  1, 11.f,
                              0, 10.1f, 1, 11.1f, 0, 100.f, 1, 101.f};
  std::vector<float> scores = {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f};
  std::vector<float> thresholds = {0.5f, 0.0f};
  Memory(boxes);
  Memory(scores);
  Memory(thresholds);
  ASSERT_TRUE(
      Call(LibraryFunction::kNonMaxSuppression, {1, 1, 6, 3, 0}, 1, 1).ok());
  EXPECT_EQ(written_[0], 3);
  EXPECT_EQ(Allocated<int64_t>(0),
            (std::vector<int64_t>{0, 0, 3, 0, 0, 0, 0, 0, 5}));
  thresholds[1] = 0.4f;
  ASSERT_TRUE(
      Call(LibraryFunction::kNonMaxSuppression, {1, 1, 6, 3, 0}, 1, 1).ok());
  EXPECT_EQ(Allocated<int64_t>(0), (std::vector<int64_t>{0, 0, 3, 0, 0, 0}));
  EXPECT_FALSE(
      Call(LibraryFunction::kNonMaxSuppression, {2, 1, 6, 3, 0}, 1, 1).ok());
}

// Rows that are longer than one piece of work must give the same order as a
// stable sort.
TEST_F(LibraryTest, TopKOfLongRows) {
  constexpr int64_t kCount = 100000;
  std::mt19937 random(1);
  std::vector<int32_t> x(kCount);
  for (int32_t& element : x) element = static_cast<int32_t>(random() % 5000);
  std::vector<int64_t> order(kCount);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return x[static_cast<size_t>(a)] > x[static_cast<size_t>(b)];
  });
  for (const int64_t k : {int64_t{1}, int64_t{7}, int64_t{8192}, int64_t{8193},
                          int64_t{16385}, kCount}) {
    std::vector<int32_t> values(static_cast<size_t>(k));
    std::vector<int64_t> indices(static_cast<size_t>(k));
    memory_.clear();
    Memory(x);
    Memory(values);
    Memory(indices);
    ASSERT_TRUE(Call(LibraryFunction::kTopK, {kI32, 1, kCount, 1, k, 1}).ok());
    EXPECT_EQ(indices, std::vector<int64_t>(order.begin(), order.begin() + k));
  }
}

TEST_F(LibraryTest, UniqueOfManyRows) {
  constexpr int64_t kCount = 70000;
  std::mt19937 random(1);
  std::vector<int32_t> x(kCount);
  for (int32_t& element : x) element = static_cast<int32_t>(random() % 40000);
  const std::set<int32_t> want(x.begin(), x.end());
  for (const int64_t sorted : {1, 0}) {
    memory_.clear();
    Memory(x);
    ASSERT_TRUE(
        Call(LibraryFunction::kUnique, {kI32, kCount, 1, sorted}, 1, 4).ok());
    std::vector<int32_t> found = Allocated<int32_t>(0);
    const std::vector<int64_t> firsts = Allocated<int64_t>(1);
    EXPECT_TRUE(std::ranges::is_sorted(found) == (sorted != 0));
    EXPECT_TRUE(std::ranges::is_sorted(firsts) == (sorted == 0));
    std::ranges::sort(found);
    EXPECT_TRUE(std::ranges::equal(found, want));
  }
}

TEST_F(LibraryTest, CancelEndsThem) {
  std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> values(4);
  std::vector<int64_t> indices(4);
  Memory(x);
  Memory(values);
  Memory(indices);
  interrupt_.Cancel();
  EXPECT_EQ(Call(LibraryFunction::kTopK, {kF32, 1, 4, 1, 4, 1}).code(),
            StatusCode::kCancelled);
  EXPECT_EQ(Call(LibraryFunction::kNonZero, {kF32, 4}, 1, 1).code(),
            StatusCode::kCancelled);
  EXPECT_EQ(Call(LibraryFunction::kUnique, {kF32, 4, 1, 1}, 1, 4).code(),
            StatusCode::kCancelled);
  memory_.clear();
  std::vector<float> boxes = {0, 0, 1, 1}, score = {0.5F}, thresholds = {0, 0};
  Memory(boxes);
  Memory(score);
  Memory(thresholds);
  EXPECT_EQ(
      Call(LibraryFunction::kNonMaxSuppression, {1, 1, 1, 3, 0}, 1, 1).code(),
      StatusCode::kCancelled);
  // The interrupt must stop the function even though no score is above the
  // threshold, so that there is nothing to sort.
  thresholds[1] = 1;
  EXPECT_EQ(
      Call(LibraryFunction::kNonMaxSuppression, {1, 1, 1, 3, 0}, 1, 1).code(),
      StatusCode::kCancelled);
}

// A decoder for tests: the picture has the extents of the first two bytes, and
// all its pixels are the third byte.
StatusOr<DecodedImage> DecodeBytes(std::span<const uint8_t> file,
                                   PixelOrder order, MemoryBudget&) {
  if (file.size() != 3) return DecodedImage();
  const int64_t count = int64_t{file[0]} * file[1] * ChannelCount(order);
  return DecodedImage{
      file[0], file[1],
      std::vector<uint8_t>(static_cast<size_t>(count), file[2])};
}

TEST_F(LibraryTest, DecodeImage) {
  std::vector<uint8_t> file = {2, 3, 7, 0};
  Memory(file);
  // Without a decoder the call is refused.
  EXPECT_EQ(Call(LibraryFunction::kDecodeImage, {0, 3}, 2, 1).code(),
            StatusCode::kUnimplemented);
  images_ = DecodeBytes;
  ASSERT_TRUE(Call(LibraryFunction::kDecodeImage, {0, 3}, 2, 1).ok());
  EXPECT_EQ(written_, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(Allocated<uint8_t>(0), std::vector<uint8_t>(18, 7));
  ASSERT_TRUE(Call(LibraryFunction::kDecodeImage, {2, 3}, 2, 1).ok());
  EXPECT_EQ(Allocated<uint8_t>(0), std::vector<uint8_t>(6, 7));
  // Bytes that are no picture give an empty one.
  ASSERT_TRUE(Call(LibraryFunction::kDecodeImage, {1, 4}, 2, 1).ok());
  EXPECT_EQ(written_, (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(Allocated<uint8_t>(0).empty());
  // A hostile program may pass orders of pixels and numbers of bytes that are
  // out of range.
  EXPECT_FALSE(Call(LibraryFunction::kDecodeImage, {3, 3}, 2, 1).ok());
  EXPECT_FALSE(Call(LibraryFunction::kDecodeImage, {-1, 3}, 2, 1).ok());
  EXPECT_FALSE(Call(LibraryFunction::kDecodeImage, {0, 5}, 2, 1).ok());
  EXPECT_FALSE(Call(LibraryFunction::kDecodeImage, {0, -1}, 2, 1).ok());
}

// Rows without elements take no memory, so a file may have any number of them.
// The function must write the numbers for these rows in pieces, so that it can
// be stopped.
TEST_F(LibraryTest, CancelEndsWhatIsWrittenForRows) {
  std::vector<float> x = {1};
  Memory(x);
  interrupt_.Cancel();
  constexpr int64_t kRows = 1 << 20;
  EXPECT_EQ(Call(LibraryFunction::kUnique, {kF32, kRows, 0, 1}, 1, 4).code(),
            StatusCode::kCancelled);
  // The function must have stopped before it wrote the rows' numbers: the
  // memory that it gave back is still zero.
  for (int i = 0; i < 4; ++i) {
    MemoryBlock* const block = *pool_.Acquire(kRows * 8);
    EXPECT_EQ(reinterpret_cast<const int64_t*>(block->data())[kRows - 1], 0);
  }
}

}  // namespace
}  // namespace ember::vm
