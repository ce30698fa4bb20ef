// Makes the cases of operators with regions: reductions, windows, sorting,
// loops and branches.
#include <cmath>
#include <limits>

#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A reduction that computes the maximum and its index, in the form that JAX
// writes: it chooses the larger value, or of equal values the lower index; NaN
// is larger than all numbers.
constexpr char kArgMax[] = R"(
      %i = stablehlo.iota dim = 1 : tensor<2x5xi32>
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.reduce(%a init: %low), (%i init: %zero) across dimensions = [1] : (%A, tensor<2x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
       reducer(%x: tensor<f32>, %y: tensor<f32>) (%xi: tensor<i32>, %yi: tensor<i32>) {
        %0 = stablehlo.compare GT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %1 = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %2 = stablehlo.or %0, %1 : tensor<i1>
        %3 = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %4 = stablehlo.compare LT, %xi, %yi, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %5 = stablehlo.and %3, %4 : tensor<i1>
        %6 = stablehlo.or %2, %5 : tensor<i1>
        %7 = stablehlo.select %2, %x, %y : tensor<i1>, tensor<f32>
        %8 = stablehlo.select %6, %xi, %yi : tensor<i1>, tensor<i32>
        stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
      })";

void AddReductions(std::vector<OperatorCase>& cases) {
  cases.push_back({R"(
      %c = stablehlo.constant dense<10> : tensor<i32>
      %r = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1] : (%A, tensor<i32>) -> %T)",
                   {I32({2, 3}, {1, 2, 3, 4, 5, 6})},
                   {I32({2}, {16, 25})}});
  cases.push_back({R"(
      %c = stablehlo.constant dense<false> : tensor<i1>
      %r = stablehlo.reduce(%a init: %c) applies stablehlo.or across dimensions = [0, 1] : (%A, tensor<i1>) -> %T)",
                   {Bools({2, 2}, {0, 1, 0, 0})},
                   {Bools({}, {1})}});
  // The case reduces with a bitwise "and", for which the graph has no reduction
  // operator.
  cases.push_back({R"(
      %c = stablehlo.constant dense<-1> : tensor<i32>
      %r = stablehlo.reduce(%a init: %c) applies stablehlo.and across dimensions = [0] : (%A, tensor<i32>) -> %T)",
                   {I32({3, 2}, {7, 6, 5, 12, 13, 4})},
                   {I32({2}, {5, 4})}});
  cases.push_back({kArgMax,
                   {F32({2, 5}, {1, 7, 3, 7, 0, 2, std::nan(""), 9, 1, 0})},
                   {F32({2}, {7, std::nan("")}), I32({2}, {1, 1})}});
  // The body is in the generic form, and the result's type is wider than the
  // operand's.
  cases.push_back({R"(
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %r = "stablehlo.reduce"(%a, %c) ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %z = "stablehlo.add"(%y, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%z) : (tensor<f32>) -> ()
      }) {dimensions = array<i64: 0>} : (%A, tensor<f32>) -> %T)",
                   {F32({4}, {1, 2, 3, 4})},
                   {F32({}, {10})}});
  cases.push_back({R"(
      %r = "stablehlo.map"(%a, %b) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %two = stablehlo.constant dense<2> : tensor<i32>
        %m = stablehlo.multiply %x, %two : tensor<i32>
        %z = stablehlo.subtract %m, %y : tensor<i32>
        stablehlo.return %z : tensor<i32>
      }) {dimensions = array<i64: 0>} : (%A, %B) -> %T)",
                   {I32({2}, {5, 6}), I32({2}, {1, 2})},
                   {I32({2}, {9, 10})}});
}

std::string Window(const std::string& body, const std::string& attributes,
                   const std::string& element, const std::string& start) {
  return "%s = stablehlo.constant dense<" + start + "> : tensor<" + element +
         ">\n%r = \"stablehlo.reduce_window\"(%a, %s) ({\n^bb0(%x: tensor<" +
         element + ">, %y: tensor<" + element + ">):\n" + body +
         "\nstablehlo.return %z : tensor<" + element + ">\n}) {" + attributes +
         "} : (%A, tensor<" + element + ">) -> %T";
}

void AddWindows(std::vector<OperatorCase>& cases) {
  const std::string add = "%z = stablehlo.add %x, %y : tensor<i32>";
  cases.push_back({Window(add,
                          "window_dimensions = array<i64: 2, 1>, "
                          "window_strides = array<i64: 4, 1>, "
                          "base_dilations = array<i64: 2, 1>, "
                          "window_dilations = array<i64: 3, 1>, "
                          "padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>",
                          "i32", "0"),
                   {I32({3, 2}, {1, 2, 3, 4, 5, 6})},
                   {I32({2, 2}, {0, 0, 3, 4})}});
  // The initial value 100 is added once in each window, and once more for each
  // padded position in it.
  cases.push_back({Window(add,
                          "window_dimensions = array<i64: 2>, "
                          "padding = dense<[[1, 0]]> : tensor<1x2xi64>",
                          "i32", "100"),
                   {I32({3}, {1, 2, 3})},
                   {I32({3}, {201, 103, 105})}});
  cases.push_back(
      {Window("%z = stablehlo.maximum %x, %y : tensor<f32>",
              "window_dimensions = array<i64: 1, 2>, window_strides = "
              "array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : "
              "tensor<2x2xi64>",
              "f32", "0xFF800000"),
       {F32({1, 4}, {-1, -5, -3, -2})},
       {F32({1, 3}, {-1, -3, -2})}});
  cases.push_back({Window("%n = stablehlo.xor %x, %y : tensor<i32>\n"
                          "%z = stablehlo.negate %n : tensor<i32>",
                          "window_dimensions = array<i64: 2>", "i32", "0"),
                   {I32({3}, {1, 2, 4})},
                   // Each window has two elements and the body is -(x ^ y), so
                   // the results are -(-(0 ^ 1) ^ 2) and -(-(0 ^ 2) ^ 4).
                   {I32({2}, {3, 6})}});
  // The case is the gradient of max pooling: each gradient is added at the
  // position of its window's maximum.
  cases.push_back(
      {R"(
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r = "stablehlo.select_and_scatter"(%a, %b, %zero) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %p = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>,
          padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>} : (%A, %B, tensor<i32>) -> %T)",
       {I32({4, 2}, {1, 5, 2, 5, 3, 6, 4, 4}), I32({2, 2}, {5, 6, 7, 8})},
       {I32({4, 2}, {0, 0, 0, 0, 5, 14, 7, 0})}});
}

std::string Sort(const std::string& body, const std::string& operands,
                 const std::string& arguments, const std::string& types) {
  const std::string results = operands == "%a" ? "%r" : "%r:2";
  return results + " = \"stablehlo.sort\"(" + operands + ") ({\n^bb0(" +
         arguments + "):\n" + body +
         "\nstablehlo.return %p : tensor<i1>\n}) {dimension = -1 : i64, "
         "is_stable = true} : (" +
         types + ") -> (" + types + ")";
}

void AddSorts(std::vector<OperatorCase>& cases) {
  const std::string pair =
      "%x: tensor<i32>, %y: tensor<i32>, %u: tensor<f32>, %v: tensor<f32>";
  const std::vector<Numbers> inputs = {I32({2, 4}, {3, 1, 3, 2, 0, 0, -1, 5}),
                                       F32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})};
  cases.push_back({Sort("%p = stablehlo.compare GT, %x, %y, SIGNED : "
                        "(tensor<i32>, tensor<i32>) -> tensor<i1>",
                        "%a, %b", pair, "%A, %B"),
                   inputs,
                   {I32({2, 4}, {3, 3, 2, 1, 5, 0, 0, -1}),
                    F32({2, 4}, {1, 3, 4, 2, 8, 5, 6, 7})}});
  cases.push_back({Sort("%p = stablehlo.compare GT, %y, %x, SIGNED : "
                        "(tensor<i32>, tensor<i32>) -> tensor<i1>",
                        "%a, %b", pair, "%A, %B"),
                   inputs,
                   {I32({2, 4}, {1, 2, 3, 3, -1, 0, 0, 5}),
                    F32({2, 4}, {2, 4, 1, 3, 7, 5, 6, 8})}});
  // The case sorts by two keys: the integer in descending order, and where it
  // is equal the float in descending order.
  cases.push_back({Sort(R"(
        %g = stablehlo.compare GT, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %e = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %h = stablehlo.compare GT, %u, %v, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %b0 = stablehlo.and %e, %h : tensor<i1>
        %p = stablehlo.or %g, %b0 : tensor<i1>)",
                        "%a, %b", pair, "%A, %B"),
                   inputs,
                   {I32({2, 4}, {3, 3, 2, 1, 5, 0, 0, -1}),
                    F32({2, 4}, {3, 1, 4, 2, 8, 6, 5, 7})}});
  // Without TOTALORDER a NaN is above all numbers, whatever its sign, and zeros
  // are equal.
  cases.push_back({Sort("%p = stablehlo.compare LT, %x, %y, FLOAT : "
                        "(tensor<f32>, tensor<f32>) -> tensor<i1>",
                        "%a, %b",
                        "%x: tensor<f32>, %y: tensor<f32>, %u: tensor<i32>, "
                        "%v: tensor<i32>",
                        "%A, %B"),
                   {F32({5}, {-std::nan(""), 1, 0, -kInfinity, -0.0}),
                    I32({5}, {0, 1, 2, 3, 4})},
                   {F32({5}, {-kInfinity, 0, -0.0, 1, std::nan("")}),
                    I32({5}, {3, 2, 4, 1, 0})}});
  // The case sorts floats as JAX does: all zeros are equal, and so are all
  // NaNs.
  cases.push_back({Sort(R"(
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
        %e0 = stablehlo.compare EQ, %x, %z, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %s0 = stablehlo.select %e0, %z, %x : tensor<i1>, tensor<f32>
        %n0 = stablehlo.compare NE, %x, %x, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %t0 = stablehlo.select %n0, %n, %s0 : tensor<i1>, tensor<f32>
        %e1 = stablehlo.compare EQ, %y, %z, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %s1 = stablehlo.select %e1, %z, %y : tensor<i1>, tensor<f32>
        %n1 = stablehlo.compare NE, %y, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %t1 = stablehlo.select %n1, %n, %s1 : tensor<i1>, tensor<f32>
        %p = stablehlo.compare LT, %t0, %t1, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>)",
                        "%a", "%x: tensor<f32>, %y: tensor<f32>", "%A"),
                   {F32({5}, {2, std::nan(""), -1, -kInfinity, 0})},
                   {F32({5}, {-kInfinity, -1, 0, 2, std::nan("")})}});
  cases.push_back(
      {"%r:2 = chlo.top_k(%a, k = 2) : %A -> (tensor<1x2xf32>, "
       "tensor<1x2xi32>)",
       {F32({1, 4}, {1, 7, 7, -2})},
       {F32({1, 2}, {7, 7}), I32({1, 2}, {1, 2})}});
  cases.push_back({R"(
      %r:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 1 : i64, largest = false}, mhlo.version = 1 : i64} : (%A) -> (tensor<1x1xf32>, tensor<1x1xi32>))",
                   {F32({1, 4}, {1, 7, 7, -2})},
                   {F32({1, 1}, {-2}), I32({1, 1}, {3})}});
}

void AddControl(std::vector<OperatorCase>& cases) {
  // The case computes the factorial of a in a loop. The body uses the last
  // factor, which is defined outside of the region.
  cases.push_back({R"(
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r0:2 = stablehlo.while(%i = %one, %p = %one) : tensor<i32>, tensor<i32>
       cond {
        %c = stablehlo.compare LE, %i, %a, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %n = stablehlo.multiply %p, %i : tensor<i32>
        %k = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %k, %n : tensor<i32>, tensor<i32>
      }
      %r = stablehlo.negate %r0#1 : tensor<i32>)",
                   {I32({}, {5})},
                   {I32({}, {-120})}});
  for (const double chosen : {1.0, 0.0}) {
    cases.push_back({R"(
      %r = "stablehlo.if"(%a) ({
        %x = stablehlo.add %b, %b : %B
        stablehlo.return %x : %B
      }, {
        stablehlo.return %b : %B
      }) : (%A) -> %B)",
                     {Bools({}, {chosen}), F32({2}, {3, 4})},
                     {chosen != 0 ? F32({2}, {6, 8}) : F32({2}, {3, 4})}});
  }
  // An index for which there is no branch selects the last branch.
  for (const auto& [index, result] : std::vector<std::pair<double, double>>{
           {0, 0}, {1, 10}, {2, 20}, {7, 20}, {-1, 20}}) {
    cases.push_back({R"(
      %r = "stablehlo.case"(%a) ({
        %x = stablehlo.subtract %b, %b : %B
        stablehlo.return %x : %B
      }, {
        stablehlo.return %b : %B
      }, {
        %y = stablehlo.add %b, %b : %B
        stablehlo.return %y : %B
      }) : (%A) -> %B)",
                     {I32({}, {index}), F32({1}, {10})},
                     {F32({1}, {result})}});
  }
  cases.push_back({"%r = func.call @helper(%a) : (%A) -> %T",
                   {I32({2}, {1, 2})},
                   {I32({2}, {2, 4})}});
  cases.push_back({R"(
      %r = stablehlo.composite "my.op" %a {decomposition = @helper, version = 1 : i32} : (%A) -> %T)",
                   {I32({2}, {1, 2})},
                   {I32({2}, {2, 4})}});
  cases.push_back({R"(
      %r = stablehlo.custom_call @Sharding(%a) {backend_config = "", mhlo.sharding = "{replicated}"} : (%A) -> %T)",
                   {I32({2}, {1, 2})},
                   {I32({2}, {1, 2})}});
}

}  // namespace

std::vector<OperatorCase> RegionCases() {
  std::vector<OperatorCase> cases;
  AddReductions(cases);
  AddWindows(cases);
  AddSorts(cases);
  AddControl(cases);
  return cases;
}

}  // namespace ember::tests
