#include "tests/performance/code_properties.h"

#include "gtest/gtest.h"

namespace ember::tests {
namespace {

// Returns the properties of a loop of these instructions. The code around it is
// not counted.
CodeProperties OfLoop(const std::string& body) {
  return PropertiesOf("phase0:\n\tvmovups\t%zmm0, -64(%rsp)\n.LBB0_1:\n" +
                      body + "\tcmpq\t%rcx, %rdx\n\tjl\t.LBB0_1\n\tretq\n");
}

CodeProperties OfArmLoop(const std::string& body) {
  return PropertiesOf("phase0:\n\tstr\tq0, [sp, #16]\n.LBB0_1:\n" + body +
                      "\tcmp\tx1, #4\n\tb.lo\t.LBB0_1\n\tret\n");
}

TEST(CodeProperties, OnlyInnermostLoopsCount) {
  const CodeProperties p = PropertiesOf(R"(phase0:
.LBB0_1:
	vmovups	(%rsp), %ymm1
.LBB0_2:
	vfmadd231ps	(%rax,%rcx,4), %ymm0, %ymm1
	jl	.LBB0_2
	jl	.LBB0_1
	retq
)");
  EXPECT_EQ(p.loops, 1);
  EXPECT_EQ(p.instructions, 2);
  EXPECT_EQ(p.spilled_vectors, 0);
  EXPECT_EQ(p.arithmetic, 1);
  EXPECT_EQ(p.scalar_arithmetic, 0);
}

TEST(CodeProperties, Spills) {
  const CodeProperties p = OfLoop(R"(	vmovaps	64(%rsp), %zmm3
	vfmadd231ps	-64(%rsp), %zmm1, %zmm2
	movq	%rax, -8(%rsp)
	movq	-8(%rsp), %rax
	vmovups	(%rbx), %zmm4
)");
  EXPECT_EQ(p.spilled_vectors, 2);
  EXPECT_EQ(p.spilled_integers, 1);
  const CodeProperties arm = OfArmLoop(R"(	ldr	q1, [sp, #32]
	str	q1, [sp, #64]
	fmla	v1.4s, v2.4s, v3.s[0]
)");
  EXPECT_EQ(arm.spilled_vectors, 2);
  EXPECT_EQ(arm.arithmetic, 1);
  EXPECT_EQ(arm.scalar_arithmetic, 0);
}

TEST(CodeProperties, ScalarsAndGathers) {
  const CodeProperties p = OfLoop(R"(	vmovss	(%rax), %xmm1
	vfmadd231ss	(%rbx), %xmm1, %xmm2
	vgatherdps	(%rax,%zmm3,4), %zmm4 {%k1}
	vaddps	%xmm1, %xmm2, %xmm3
)");
  EXPECT_EQ(p.arithmetic, 2);
  EXPECT_EQ(p.scalar_arithmetic, 1);
  EXPECT_EQ(p.gathers, 1);
  EXPECT_EQ(OfArmLoop("\tfmadd\ts0, s1, s2, s3\n").scalar_arithmetic, 1);
}

TEST(CodeProperties, LoadsOfWhatWasStoredInParts) {
  // Each iteration stores single elements and then loads all of them with one
  // vector load, which the stores block.
  EXPECT_EQ(OfLoop("\tvmovss\t%xmm1, (%rax)\n\tvmovss\t%xmm2, 4(%rax)\n"
                   "\tvmovups\t(%rax), %xmm3\n")
                .blocked_loads,
            1);
  // The store comes after the load, so it blocks the load of the next
  // iteration.
  EXPECT_EQ(OfLoop("\tvmovups\t(%rax), %xmm3\n\tvmovss\t%xmm1, 8(%rax)\n")
                .blocked_loads,
            1);
  // Loading a part of a stored vector is not blocked, because the store
  // forwards it; nor is loading other memory.
  EXPECT_EQ(OfLoop("\tvmovups\t%zmm1, (%rax)\n\tvmovss\t4(%rax), %xmm3\n"
                   "\tvmovups\t64(%rax), %zmm3\n")
                .blocked_loads,
            0);
  // The base register changes between store and load, so they access different
  // memory.
  EXPECT_EQ(OfLoop("\tvmovss\t%xmm1, (%rax)\n\taddq\t$16, %rax\n"
                   "\tvmovups\t(%rax), %xmm3\n")
                .blocked_loads,
            0);
  EXPECT_EQ(OfArmLoop("\tstr\ts1, [x0]\n\tldr\tq2, [x0]\n").blocked_loads, 1);
  EXPECT_EQ(OfArmLoop("\tstr\ts1, [x0], #4\n\tldr\tq2, [x0]\n").blocked_loads,
            0);
}

TEST(CodeProperties, AddressesThatLookAlike) {
  EXPECT_EQ(OfLoop("\tvmovups\t%zmm1, (%rax)\n\tvmovups\t4096(%rax), %zmm3\n")
                .aliased_loads,
            1);
  EXPECT_EQ(OfLoop("\tvmovups\t%zmm1, 8160(%rax)\n\tvmovups\t(%rax), %zmm3\n")
                .aliased_loads,
            1);
  EXPECT_EQ(OfLoop("\tvmovups\t%zmm1, (%rax)\n\tvmovups\t64(%rax), %zmm3\n")
                .aliased_loads,
            0);
}

}  // namespace
}  // namespace ember::tests
