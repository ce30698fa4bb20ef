// Tests operators that only programs of torch.export have, against their
// formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "frontends/torch_export/testing/program_builder.h"
#include "tests/torch_export/one_node.h"

namespace ember::tests {
namespace {

using torch_export::Bool;
using torch_export::Float;
using torch_export::Int;
using torch_export::Ints;
using torch_export::Named;
using torch_export::None;
using torch_export::OptionalTensors;
using torch_export::ProgramBuilder;
using torch_export::SymInt;
using torch_export::Text;

const torch_export::Given kX0 = torch_export::Tensor("x0");
const torch_export::Given kX1 = torch_export::Tensor("x1");
const torch_export::Given kX2 = torch_export::Tensor("x2");

TEST(Operators, BatchNorm) {
  const Numbers x = F32({1, 2, 2}, {1, 3, 2, 6});
  const Numbers mean = F32({2}, {1, 2});
  const Numbers variance = F32({2}, {4, 1});
  ExpectNode("aten._native_batch_norm_legit_no_training.default",
             {kX0, None(), None(), kX1, kX2, Float(0.1), Float(0)},
             {x, mean, variance}, {F32({1, 2, 2}, {0, 1, 0, 4})}, 2);
  ExpectNode("aten.native_batch_norm.default",
             {kX0, None(), None(), kX1, kX2, Bool(false), Float(0.1), Float(0)},
             {x, mean, variance}, {F32({1, 2, 2}, {0, 1, 0, 4})}, 2);
  ExpectNode("aten._native_batch_norm_legit.no_stats",
             {kX0, None(), None(), Bool(true), Float(0.1), Float(0)}, {x},
             {F32({1, 2, 2}, {-1, 1, -1, 1})}, 2);
}

TEST(Operators, OtherNormalizations) {
  ExpectNode("aten.native_group_norm.default",
             {kX0, None(), None(), Int(1), Int(2), Int(2), Int(2), Float(0)},
             {F32({1, 2, 2}, {1, 3, 2, 6})}, {F32({1, 2, 2}, {-1, 1, -1, 1})},
             2);
  ExpectNode("aten._fused_rms_norm.default", {kX0, Ints({2}), None(), Float(0)},
             {F32({1, 2}, {3, 4})},
             {F32({1, 2}, {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)})}, 1);
  ExpectNode("aten._weight_norm_interface.default", {kX0, kX1},
             {F32({2, 2}, {3, 4, 0, 2}), F32({2, 1}, {10, 1})},
             {F32({2, 2}, {6, 8, 0, 1}), F32({2, 1}, {5, 2})});
  ExpectNode("aten.native_dropout.default", {kX0, Float(0.5), Bool(false)},
             {F32({2}, {1, 2})}, {F32({2}, {1, 2})}, 1);
}

TEST(Operators, Attention) {
  const Numbers q = F32({1, 1, 2, 1}, {1, 0});
  const Numbers v = F32({1, 1, 2, 1}, {2, 4});
  const double e = std::exp(1.0);
  // The first query's scores are 1 for the first key and 0 for the second, so
  // its weights are e and 1, each over e + 1. In causal attention it attends to
  // the first key only.
  const Numbers all = F32({1, 1, 2, 1}, {(2 * e + 4) / (e + 1), 3});
  const Numbers causal = F32({1, 1, 2, 1}, {2, 3});
  ExpectNode("aten._scaled_dot_product_flash_attention_for_cpu.default",
             {kX0, kX0, kX1}, {q, v}, {all}, 1);
  ExpectNode("aten._scaled_dot_product_flash_attention_for_cpu.default",
             {kX0, kX0, kX1, Float(0), Bool(true), Named("scale", Float(1))},
             {q, v}, {causal}, 1);
  ExpectNode("aten._scaled_dot_product_efficient_attention.default",
             {kX0, kX0, kX1, None(), Bool(false)}, {q, v}, {all}, 3);
  ExpectNode("aten._scaled_dot_product_flash_attention.default",
             {kX0, kX0, kX1, Float(0), Bool(true)}, {q, v}, {causal}, 8);
  ExpectNode("aten._scaled_dot_product_attention_math.default", {kX0, kX0, kX1},
             {q, v}, {all}, 1);
}

TEST(Operators, Activations) {
  ExpectNode("aten.log_sigmoid_forward.default", {kX0}, {F32({1}, {0})},
             {F32({1}, {-std::log(2.0)})}, 1);
  ExpectNode("aten._prelu_kernel.default", {kX0, kX1},
             {F32({2}, {-2, 3}), F32({1}, {0.5})}, {F32({2}, {-1, 3})});
  ExpectNode("aten._safe_softmax.default", {kX0, Int(-1)},
             {F32({2, 2}, {0, 0, -INFINITY, -INFINITY})},
             {F32({2, 2}, {0.5, 0.5, 0, 0})});
  ExpectNode("aten.addr.default", {kX0, kX1, kX2, Named("alpha", Int(10))},
             {F32({1}, {1}), F32({2}, {1, 2}), F32({2}, {3, 4})},
             {F32({2, 2}, {31, 41, 61, 81})});
}

TEST(Operators, PartsThatAreReplaced) {
  ExpectNode("aten.slice_scatter.default",
             {kX0, kX1, Int(0), Int(1), Int(4), Int(2)},
             {F32({5}, {1, 2, 3, 4, 5}), F32({2}, {20, 40})},
             {F32({5}, {1, 20, 3, 40, 5})});
  ExpectNode("aten.select_scatter.default", {kX0, kX1, Int(1), Int(-1)},
             {F32({2, 2}, {1, 2, 3, 4}), F32({2}, {20, 40})},
             {F32({2, 2}, {1, 20, 3, 40})});
}

TEST(Operators, OtherNames) {
  const Numbers x = F32({2, 2}, {1, 2, 3, 4});
  ExpectNode("aten._unsafe_index.Tensor", {kX0, OptionalTensors({"", "x1"})},
             {x, I64({2}, {1, 0})}, {F32({2, 2}, {2, 1, 4, 3})});
  ExpectNode("aten._cdist_forward.default", {kX0, kX1, Float(2), None()},
             {F32({1, 2}, {0, 0}), F32({1, 2}, {3, 4})}, {F32({1, 1}, {5})});
  ExpectNode("aten._adaptive_avg_pool3d.default", {kX0, Ints({1, 1, 1})},
             {F32({1, 1, 1, 2, 2}, {1, 2, 3, 4})},
             {F32({1, 1, 1, 1, 1}, {2.5})});
  ExpectNode("aten.empty_permuted.default", {Ints({2}), Ints({0})}, {},
             {F32({2}, {0, 0})});
  ExpectNode("aten.permute_copy.default", {kX0, Ints({1, 0})}, {x},
             {F32({2, 2}, {1, 3, 2, 4})});
  ExpectNode("aten.native_channel_shuffle.default", {kX0, Int(2)},
             {F32({1, 4, 1}, {1, 2, 3, 4})}, {F32({1, 4, 1}, {1, 3, 2, 4})});
  ProgramBuilder p;
  p.Input("x0", DType::kF32, {"4"});
  p.ListNode("aten.unsafe_split.Tensor", {kX0, Int(2)}, {"a", "b"});
  p.ListNode("aten.unsafe_split_with_sizes.default", {kX0, Ints({1, 3})},
             {"c", "d"});
  p.Output("b");
  p.Output("d");
  ExpectNumbers(RunArchive(p.Archive(), {F32({4}, {1, 2, 3, 4})}),
                {F32({2}, {3, 4}), F32({3}, {2, 3, 4})});
}

// The program computes with a number that is known only when it runs, and has
// assertions about this number.
TEST(Operators, NumbersOfTheRun) {
  ProgramBuilder p;
  p.Input("x0", DType::kI64, {});
  p.SymNode("aten._local_scalar_dense.default", {kX0}, "u0");
  p.Effect("aten.sym_constrain_range_for_size.default",
           {SymInt("u0"), Named("min", Int(1)), Named("max", Int(5))});
  p.SymNode("_operator.ge", {SymInt("u0"), Int(2)}, "ge");
  p.Effect("aten._assert_scalar.default",
           {SymInt("ge"), Text("u0 is at least 2")});
  p.Node("aten.full.default", {torch_export::SymInts({"u0"}), Float(1.5)},
         "full");
  p.SymNode("aten.sym_numel.default", {torch_export::Tensor("full")}, "numel");
  p.SymNode("math.ceil", {SymInt("numel")}, "ceil");
  p.Output("full");
  p.SymOutput("ceil");
  ExpectNumbers(RunArchive(p.Archive(), {I64({}, {3})}),
                {F32({3}, {1.5, 1.5, 1.5}), I64({}, {3})});
  const auto small = RunArchive(p.Archive(), {I64({}, {1})});
  ASSERT_FALSE(small.ok());
  EXPECT_NE(small.status().message().find("u0 is at least 2"),
            std::string::npos)
      << small.status().message();
  EXPECT_FALSE(RunArchive(p.Archive(), {I64({}, {6})}).ok());
}

TEST(Operators, AssertionsOnTensors) {
  ProgramBuilder p;
  p.Input("x0", DType::kBool, {});
  p.Effect("aten._assert_async.msg", {kX0, Text("x0 holds")});
  p.Effect("aten._assert_tensor_metadata.default",
           {kX0, None(), None(), torch_export::Type(DType::kBool)});
  p.Node("aten.logical_not.default", {kX0}, "not");
  p.Output("not");
  ExpectNumbers(RunArchive(p.Archive(), {{DType::kBool, {}, {1}}}),
                {{DType::kBool, {}, {0}}});
  EXPECT_FALSE(RunArchive(p.Archive(), {{DType::kBool, {}, {0}}}).ok());
}

}  // namespace
}  // namespace ember::tests
