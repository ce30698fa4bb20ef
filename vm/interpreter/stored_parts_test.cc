#include "vm/interpreter/stored_parts.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tensor/concrete_header.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"

namespace ember::vm {
namespace {

// True if FactsOf finds that a run of the dispatch, which has one output and no
// inputs, overwrites the whole output for these parameters.
bool Overwrites(const std::string& text,
                const std::vector<int64_t>& parameters = {}) {
  const StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().ToString() << "\n" << text;
  if (!dispatch.ok()) return false;
  const auto header = tensor::ConcreteHeader::Evaluate(*dispatch, parameters);
  EXPECT_TRUE(header.ok()) << header.status().ToString();
  const auto facts = StripInterpreter().FactsOf(*dispatch, *header);
  EXPECT_TRUE(facts.ok()) << facts.status().ToString();
  // The plan must report the same facts as FactsOf.
  const auto plan = StripInterpreter().MakePlan(*dispatch, *header, {});
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ((*plan)->facts().overwrites, facts->overwrites);
  return facts->overwrites.back();
}

TEST(StoredPartsTest, PartsOfAConcatenationAreTheWhole) {
  const std::string text = R"(dispatch @d<n>() -> (%y: f32[2, n + 3]) {
    for (i < 2, j < n) %y[i, j] = f32(j)
    for (i < 2, j < 3) %y[i, j + n] = f32(i)
  })";
  EXPECT_TRUE(Overwrites(text, {5}));
  EXPECT_TRUE(Overwrites(text, {1}));
  EXPECT_TRUE(Overwrites(text, {0}));
}

TEST(StoredPartsTest, APlaceCanBeANumber) {
  EXPECT_TRUE(Overwrites(R"(dispatch @d() -> (%y: f32[2, 4]) {
    for (i < 2, j < 3) %y[i, j] = f32(j)
    for (i < 2) %y[i, 3] = f32(i)
  })"));
}

TEST(StoredPartsTest, WhatIsReadBeforeItIsWholeIsSeen) {
  EXPECT_FALSE(Overwrites(R"(dispatch @d() -> (%z: f32[4], %y: f32[4]) {
    for (i < 2) %y[i] = f32(i)
    for (i < 4) %z[i] = %y[i]
    for (i < 2) %y[i + 2] = f32(i)
  })"));
  EXPECT_FALSE(Overwrites(R"(dispatch @d() -> (%y: f32[4]) {
    for (i < 2) %y[i] = f32(i)
    for (i < 2) %y[i + 2] = %y[i + 2] + 1.0
  })"));
  EXPECT_FALSE(Overwrites(R"(dispatch @d() -> (%y: f32[4]) {
    for (i < 2) %y[i] = f32(i)
    for (i < 4) %y[i] += f32(i)
    for (i < 2) %y[i + 2] = f32(i)
  })"));
  EXPECT_TRUE(Overwrites(R"(dispatch @d() -> (%y: f32[4]) {
    for (i < 2) %y[i] = f32(i)
    for (i < 2) %y[i + 2] = f32(i)
    for (i < 4) %y[i] += f32(i)
  })"));
}

// A stage with an axis of extent 0 stores nothing, whatever its indices are.
TEST(StoredPartsTest, StagesWithoutPointsStoreNothing) {
  const std::string text = R"(dispatch @d<n>() -> (%y: f32[4]) {
    for (i < 2) %y[i] = f32(i)
    for (i < 2, j < n) %y[i + 2] = f32(i)
  })";
  EXPECT_TRUE(Overwrites(text, {1}));
  EXPECT_FALSE(Overwrites(text, {0}));
}

TEST(StoredPartsTest, OtherThanBoxesAreLeftOut) {
  EXPECT_FALSE(Overwrites(R"(dispatch @d() -> (%y: f32[4]) {
    for (i < 2) %y[2 * i] = f32(i)
    for (i < 2) %y[i + 2] = f32(i)
  })"));
  // The first stage stores only to the elements on the diagonal, which are no
  // box and so must not count.
  EXPECT_FALSE(Overwrites(R"(dispatch @d() -> (%y: f32[2, 4]) {
    for (i < 2) %y[i, i] = f32(i)
    for (i < 2, j < 3) %y[i, j + 1] = f32(i)
  })"));
}

struct Part {
  int begin[3];
  int extent[3];
};

// Divides the box into parts by cutting it in two, and again the halves, at
// most `depth` times.
void Divide(std::mt19937_64& random, const Part& box, int depth,
            std::vector<Part>& parts) {
  const size_t dim = random() % 3;
  if (depth == 0 || box.extent[dim] < 2) {
    parts.push_back(box);
    return;
  }
  const int cut =
      1 +
      static_cast<int>(random() % static_cast<uint64_t>(box.extent[dim] - 1));
  Part first = box;
  Part second = box;
  first.extent[dim] = cut;
  second.begin[dim] += cut;
  second.extent[dim] -= cut;
  Divide(random, first, depth - 1, parts);
  Divide(random, second, depth - 1, parts);
}

// Returns, over all elements of a cube of this extent, the smallest and the
// largest number of parts that contain an element.
std::pair<int, int> Cover(const std::vector<Part>& parts, int extent) {
  int fewest = static_cast<int>(parts.size());
  int most = 0;
  for (int element = 0; element < extent * extent * extent; ++element) {
    const int at[3] = {element / extent / extent, element / extent % extent,
                       element % extent};
    const auto count =
        static_cast<int>(std::ranges::count_if(parts, [&](const Part& part) {
          for (int dim = 0; dim < 3; ++dim) {
            const int offset = at[dim] - part.begin[dim];
            if (offset < 0 || offset >= part.extent[dim]) return false;
          }
          return true;
        }));
    fewest = std::min(fewest, count);
    most = std::max(most, count);
  }
  return {fewest, most};
}

std::string DispatchOf(const std::vector<Part>& parts, int extent) {
  const std::string n = std::to_string(extent);
  std::string text =
      "dispatch @d() -> (%y: f32[" + n + ", " + n + ", " + n + "]) {\n";
  for (const Part& part : parts) {
    std::string axes;
    std::string indices;
    for (int dim = 0; dim < 3; ++dim) {
      const std::string axis(1, static_cast<char>('i' + dim));
      axes += (dim > 0 ? ", " : "") + axis + " < " +
              std::to_string(part.extent[dim]);
      indices += (dim > 0 ? ", " : "") + axis + " + " +
                 std::to_string(part.begin[dim]);
    }
    text += "  for (" + axes + ") %y[" + indices + "] = f32(i)\n";
  }
  return text + "}";
}

TEST(StoredPartsTest, RandomDivisionsAndWhatIsNone) {
  constexpr int kExtent = 5;
  int whole = 0;
  for (uint64_t seed = 1; seed <= 400 && !HasFailure(); ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Part> parts;
    Divide(random, {{0, 0, 0}, {kExtent, kExtent, kExtent}},
           1 + static_cast<int>(random() % 4), parts);
    std::ranges::shuffle(parts, random);
    if (random() % 2 == 0) {
      Part& part = parts[random() % parts.size()];
      const size_t dim = random() % 3;
      if (random() % 2 == 0 && part.extent[dim] > 1) {
        --part.extent[dim];
      } else if (part.begin[dim] > 0) {
        --part.begin[dim];
      }
    }
    const auto [fewest, most] = Cover(parts, kExtent);
    const std::string text = DispatchOf(parts, kExtent);
    const bool overwrites = Overwrites(text);
    whole += overwrites;
    // If parts overlap, they may cover the whole buffer or not, and the
    // conservative function may return either answer.
    if (fewest == 0 || most == 1) {
      EXPECT_EQ(overwrites, fewest > 0) << "seed " << seed << "\n" << text;
    }
  }
  EXPECT_GT(whole, 100);
  EXPECT_LT(whole, 390);
}

}  // namespace
}  // namespace ember::vm
