// Tests which loops copy boxes of tensors.
#include "jit/gpu/box_copies.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/text/text.h"

namespace ember::jit::gpu {
namespace {

std::optional<BoxCopy> BoxOf(const std::string& buffers,
                             const std::string& statement,
                             const loops::Panels& panels) {
  const auto nest =
      loops::Parse("loops @t(" + buffers +
                   ", %y: output f32[1]) {\n  task %s: f16[2, 2, 16, 128]\n"
                   "  phase t < 1 {\n" +
                   statement + "  }\n}\n");
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return std::nullopt;
  return BoxCopyOf(*nest, nest->phases[0].body[0], panels);
}

// Rows of 256 bytes are two panels long, and the slot has two matrices of 16
// rows. Each panel of each matrix is a box of its own.
TEST(BoxCopiesTest, MatricesHavePanels) {
  const auto copy = BoxOf("%x: input f16[9, 20, 20, 256]",
                          "invocation i < 256 { unroll r < 2 { vector v < 8 {\n"
                          "async %s[1, r, floordiv(i, 16), mod(i, 16) * 8 + v] "
                          "= pad(%x[t, r + 3, floordiv(i, 16) - 1, "
                          "mod(i, 16) * 8 + v + 64], 0.0) } } }\n",
                          {.rows = 16, .row_bytes = 256});
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->box, (std::vector<uint32_t>{1, 1, 16, 64}));
  EXPECT_EQ(copy->ring_slot_bytes, 2 * 16 * 256);
  ASSERT_EQ(copy->pieces.size(), 4u);
  const std::vector<int64_t> offsets[] = {
      {0, 0, 0, 0}, {0, 0, 0, 64}, {0, 1, 0, 0}, {0, 1, 0, 64}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(copy->pieces[i].offsets, offsets[i]) << i;
    EXPECT_EQ(copy->pieces[i].position, static_cast<int64_t>(i) * 16 * 128)
        << i;
  }
}

// The rows of the slot are lines of images, and the images are the tensor's
// outermost dim. The dims of the box then have another order than those of the
// tensor. The tensor's second dim has no partner in the slot.
TEST(BoxCopiesTest, DimsMayHaveAnotherOrder) {
  const std::string buffers = "%x: input f16[20, 20, 20, 128]";
  const auto copy_of = [&](const std::string& line, const std::string& image) {
    return BoxOf(buffers,
                 "invocation i < 256 { unroll r < 2 { vector v < 8 {\n"
                 "async %s[1, r, floordiv(i, 16), mod(i, 16) * 8 + v] "
                 "= pad(%x[" +
                     image + ", t + 2, " + line +
                     " - 1, mod(i, 16) * 8 + v], 0.0) } } }\n",
                 {.rows = 16, .row_bytes = 256});
  };
  const auto copy = copy_of("r", "floordiv(i, 16)");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->order, (std::vector<uint32_t>{2, 1, 0, 3}));
  EXPECT_EQ(copy->dims,
            (std::vector<std::optional<size_t>>{2, std::nullopt, 1, 3}));
  EXPECT_EQ(copy->box, (std::vector<uint32_t>{16, 1, 1, 64}));
  ASSERT_EQ(copy->pieces.size(), 4u);
  const std::vector<int64_t> offsets[] = {
      {0, 0, 0, 0}, {0, 0, 0, 64}, {0, 0, 1, 0}, {0, 0, 1, 64}};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(copy->pieces[i].offsets, offsets[i]) << i;
  const auto other = copy_of("floordiv(i, 16)", "r");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->order, (std::vector<uint32_t>{0, 1, 2, 3}));
  // A copy is no box if the indices of two dims of the tensor advance with the
  // same dim of the slot.
  EXPECT_FALSE(copy_of("r", "r"));
  EXPECT_FALSE(copy_of("floordiv(i, 16)", "floordiv(i, 16)"));
}

// A copy whose neighbouring elements in the slot are not neighbours in the
// tensor is no box.
TEST(BoxCopiesTest, TheLastDimIsTheLast) {
  EXPECT_FALSE(BoxOf("%x: input f16[20, 128, 20, 64]",
                     "invocation i < 256 { unroll r < 2 { vector v < 8 {\n"
                     "async %s[1, r, floordiv(i, 16), mod(i, 16) * 8 + v] "
                     "= %x[t, mod(i, 16) * 8 + v, r, floordiv(i, 16)] } } }\n",
                     {.rows = 16, .row_bytes = 256}));
}

// If a row is as long as a panel (128 bytes), one box copies the whole slot,
// here two lines of 16 rows. This holds although a condition in the loop leaves
// out some rows.
TEST(BoxCopiesTest, RowsOfOnePanelAreOneBox) {
  const auto nest = loops::Parse(
      "loops @t(%x: input f16[20, 20, 64], %y: output f32[1]) {\n"
      "  task %s: f16[2, 2, 16, 64]\n  phase t < 1 {\n"
      "    invocation i < 128 { unroll r < 2 {\n"
      "      if floordiv(i, 8) < 13 { vector v < 8 {\n"
      "        async %s[0, r, floordiv(i, 8), mod(i, 8) * 8 + v] =\n"
      "            %x[r + 2, floordiv(i, 8) + 5, mod(i, 8) * 8 + v]\n"
      "      } }\n    } }\n  }\n}\n");
  ASSERT_TRUE(nest.ok()) << nest.status().ToString();
  const auto copy =
      BoxCopyOf(*nest, nest->phases[0].body[0], {.rows = 16, .row_bytes = 128});
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->box, (std::vector<uint32_t>{2, 16, 64}));
  EXPECT_EQ(copy->pieces.size(), 1u);
}

}  // namespace
}  // namespace ember::jit::gpu
