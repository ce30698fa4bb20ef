// Tests which barriers order stores to panels for products of warpgroups. The
// emulated grid checks that these suffice where such products run
// (hal/cuda/emulated/unordered_stores.h).
#include "jit/gpu/ordering_barriers.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/place_buffers.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/target/matrix_instructions.h"

namespace ember::jit::gpu {
namespace {

constexpr char kStoresToPanels[] = R"(
      invocation i < 128 { for r < 64 { %as[floordiv(i, 2), mod(i, 2) * 32 + floordiv(r, 2)] = %a[i, r] } }
)";
constexpr char kCopies[] = R"(
      invocation i < 128 { vector v < 8 { async %as[floordiv(i, 2), mod(i, 2) * 8 + v] = %a[i, v] } }
)";
constexpr char kProducts[] = R"(
      subgroup s < 4 { matrix m < 16 { matrix n < 64 { matrix d < 16 {
        %sum[s, m, n] += f32(%as[s * 16 + m, d]) * f32(%bs[d, n])
      } } } }
)";
// Statements that access the shared buffer %t, which has no panels. They need
// two barriers: one before %t is read, and one before it is stored to again.
constexpr char kOthers[] = R"(
      invocation i < 128 { %t[i] = f32(%a[i, 0]) }
      invocation i < 128 { %x[i] = %t[127 - i] }
)";

struct Outcome {
  size_t barriers = 0;
  size_t ordering = 0;
};

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Inserts barriers into a phase with this body. Counts all barriers, and those
// that order stores to panels.
Outcome PlanOf(std::string_view body) {
  const auto nest = loops::Parse(
      "loops @t(%a: input f16[128, 64], %y: output f32[64, 64],\n"
      "         %x: output f32[128]) {\n"
      "  task %as: f16[64, 64]\n  task %bs: f16[64, 64]\n"
      "  task %t: f32[128]\n  register %sum: f32[4, 16, 64]\n"
      "  phase t < 1 {\n"
      "    subgroup s < 4 { matrix m < 16 { matrix n < 64 {\n"
      "      %sum[s, m, n] = 0.0\n    } } }\n"
      "    invocation i < 64 { for r < 64 { %bs[i, r] = %a[i, r] } }\n" +
      std::string(body) +
      "    subgroup s < 4 { matrix m < 16 { matrix n < 64 {\n"
      "      %y[s * 16 + m, n] = %sum[s, m, n]\n    } } }\n"
      "  }\n}\n");
  EXPECT_TRUE(nest.ok()) << nest.status().ToString();
  if (!nest.ok()) return {};
  EXPECT_TRUE(loops::Verify(*nest).ok()) << loops::Verify(*nest).ToString();
  DeviceTraits device;
  device.shared_bytes = 128 << 10;
  device.subgroup_size = 32;
  device.keeps_elements = device.uses_matrices = true;
  device.shared_alignment = 16;
  device.matrices = MatrixTypesOf("sm_90a");
  loops::LoopNest placed = *nest;
  const Status status = PlaceBuffers(device, placed);
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!status.ok()) return {};
  EXPECT_TRUE(InsertBarriers(device, placed).ok());
  const std::string text = loops::ToText(placed);
  const size_t ordering = Count(text, "barrier orders stores");
  // A second run of the pass changes nothing, because the nest has barriers.
  EXPECT_TRUE(InsertBarriers(device, placed).ok());
  EXPECT_EQ(loops::ToText(placed), text);
  return {Count(text, "barrier\n") + ordering, ordering};
}

std::string Loop(const std::string& body) {
  return "    for k < 8 {\n" + body + "    }\n";
}

TEST(OrderingBarriersTest, BehindStoresToPanels) {
  const std::string panels(kStoresToPanels), products(kProducts),
      others(kOthers);
  EXPECT_EQ(PlanOf(panels + products).ordering, 1u);
  // The first barrier after the stores to panels has a fence, even if other
  // memory needs that barrier. Later barriers have none.
  const Outcome outcome = PlanOf(panels + others + products);
  EXPECT_EQ(outcome.barriers, 1u);
  EXPECT_EQ(outcome.ordering, 1u);
  const Outcome behind = PlanOf(panels + products + others + others);
  EXPECT_GE(behind.barriers, 4u);
  EXPECT_EQ(behind.ordering, 1u);
}

TEST(OrderingBarriersTest, OncePerIterationOfALoop) {
  const std::string panels(kStoresToPanels), products(kProducts),
      others(kOthers);
  // Only the barrier that follows the stores to panels orders them. The three
  // other barriers are needed for other memory, and no store to panels precedes
  // them since that barrier.
  const Outcome outcome = PlanOf(Loop(panels + products + others + others));
  EXPECT_GE(outcome.barriers, 4u);
  EXPECT_EQ(outcome.ordering, 1u);
  // The last statement of an iteration stores to panels. The first barrier of
  // the next iteration then orders these stores.
  const Outcome ahead = PlanOf(panels + Loop(products + others + panels));
  EXPECT_GE(ahead.barriers, 2u);
  EXPECT_EQ(ahead.ordering, 1u);
}

// Tests copies to panels. A copy is complete only at an await, so the barrier
// that orders it comes after the await.
TEST(OrderingBarriersTest, BehindAwaits) {
  const std::string copies(kCopies), products(kProducts), others(kOthers);
  // A barrier before the await orders the stores to the other factor; one after
  // the await orders the copies.
  EXPECT_EQ(PlanOf(copies + others + "    await 0\n" + products).ordering, 2u);
  EXPECT_EQ(PlanOf(copies + "    await 0\n" + others + products).ordering, 1u);
  const Outcome ahead = PlanOf(
      copies + Loop("    await 0\n" + products + others + copies + others));
  EXPECT_GE(ahead.barriers, 4u);
  EXPECT_EQ(ahead.ordering, 1u);
}

}  // namespace
}  // namespace ember::jit::gpu
