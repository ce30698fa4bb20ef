// Makes the cases of operators that move elements, and of those that read and
// write at indices.
#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

std::vector<double> Count(int n, double first = 0) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(first + i);
  return values;
}

void AddShapes(std::vector<OperatorCase>& cases) {
  cases.push_back({"%r = stablehlo.constant dense<[[1, -2], [3, 4]]> : %T",
                   {},
                   {I32({2, 2}, {1, -2, 3, 4})}});
  cases.push_back({"%r = stablehlo.constant dense<\"0x0000803F000000C0\"> : %T",
                   {},
                   {F32({2}, {1, -2})}});
  cases.push_back({"%r = stablehlo.constant dense<1.5> : %T",
                   {},
                   {F32({2, 2}, {1.5, 1.5, 1.5, 1.5})}});
  cases.push_back({"%r = stablehlo.constant dense<\"0x05\"> : %T",
                   {},
                   {Bools({4}, {1, 0, 1, 0})}});
  cases.push_back({"%r = stablehlo.constant dense<[true, false]> : %T",
                   {},
                   {Bools({2}, {1, 0})}});
  cases.push_back({"%r = stablehlo.iota dim = 0 : %T",
                   {},
                   {I32({2, 3}, {0, 0, 0, 1, 1, 1})}});
  cases.push_back({"%r = stablehlo.dynamic_iota %a, dim = 1 : (%A) -> %T",
                   {I64({2}, {2, 3})},
                   {I32({2, 3}, {0, 1, 2, 0, 1, 2})}});
  cases.push_back({"%r = stablehlo.broadcast %a, sizes = [2] : (%A) -> %T",
                   {I32({2}, {1, 2})},
                   {I32({2, 2}, {1, 2, 1, 2})}});
  cases.push_back(
      {"%r = stablehlo.broadcast_in_dim %a, dims = [2, 1] : (%A) -> %T",
       {I32({1, 3}, {1, 2, 3})},
       {I32({2, 3, 2}, {1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3})}});
  cases.push_back(
      {"%r = stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [1] "
       ": (%A, %B) -> %T",
       {I32({2}, {1, 2}), I64({2}, {2, 2})},
       {I32({2, 2}, {1, 2, 1, 2})}});
  cases.push_back({"%r = stablehlo.reshape %a : (%A) -> %T",
                   {I32({2, 3}, Count(6))},
                   {I32({3, 2}, Count(6))}});
  cases.push_back({"%r = stablehlo.dynamic_reshape %a, %b : (%A, %B) -> %T",
                   {I32({2, 3}, Count(6)), I64({1}, {6})},
                   {I32({6}, Count(6))}});
  cases.push_back({"%r = stablehlo.transpose %a, dims = [1, 0] : (%A) -> %T",
                   {I32({2, 3}, Count(6))},
                   {I32({3, 2}, {0, 3, 1, 4, 2, 5})}});
  cases.push_back({"%r = stablehlo.reverse %a, dims = [1] : %A",
                   {I32({2, 3}, Count(6))},
                   {I32({2, 3}, {2, 1, 0, 5, 4, 3})}});
  cases.push_back(
      {"%r = stablehlo.concatenate %a, %b, dim = 1 : (%A, %B) -> %T",
       {I32({2, 1}, {1, 2}), I32({2, 2}, {3, 4, 5, 6})},
       {I32({2, 3}, {1, 3, 4, 2, 5, 6})}});
  cases.push_back({"%r = stablehlo.get_dimension_size %a, dim = 1 : (%A) -> %T",
                   {I32({2, 3}, Count(6))},
                   {I32({}, {3})}});
  cases.push_back({"", {I32({2, 3}, Count(6))}, {I64({2}, {2, 3})}});
  cases.back().body =
      "%s = shape.shape_of %a : %A -> tensor<2xindex>\n"
      "%r = stablehlo.convert %s : (tensor<2xindex>) -> %T";
  for (const std::string name : {"reshard", "sharding_constraint"}) {
    cases.push_back({"%r = sdy." + name + " %a <@mesh, [{\"x\"}, {}]> : %A",
                     {I32({2}, {1, 2})},
                     {I32({2}, {1, 2})}});
  }
  cases.push_back({"%r = stablehlo.optimization_barrier %a : %A",
                   {I32({2}, {1, 2})},
                   {I32({2}, {1, 2})}});
  cases.push_back({R"(
      %t = stablehlo.tuple %a, %b : tuple<%A, %B>
      %r = stablehlo.get_tuple_element %t[1] : (tuple<%A, %B>) -> %T)",
                   {I32({2}, {1, 2}), I32({}, {3})},
                   {I32({}, {3})}});
  cases.push_back({R"(
      %t = stablehlo.create_token : !stablehlo.token
      %u = "stablehlo.after_all"(%t) : (!stablehlo.token) -> !stablehlo.token
      %r = stablehlo.negate %a : %A)",
                   {I32({}, {3})},
                   {I32({}, {-3})}});
}

void AddSlices(std::vector<OperatorCase>& cases) {
  cases.push_back({"%r = stablehlo.slice %a [1:3, 0:4:2] : (%A) -> %T",
                   {I32({3, 4}, Count(12))},
                   {I32({2, 2}, {4, 6, 8, 10})}});
  cases.push_back(
      {"%r = stablehlo.real_dynamic_slice %a, %b, %b, %b : "
       "(%A, %B, %B, %B) -> %T",
       {I32({4}, Count(4)), I64({1}, {1})},
       {I32({0}, {})}});
  cases.back().body = R"(
      %s = stablehlo.constant dense<1> : tensor<1xi64>
      %l = stablehlo.constant dense<4> : tensor<1xi64>
      %p = stablehlo.constant dense<2> : tensor<1xi64>
      %r = stablehlo.real_dynamic_slice %a, %s, %l, %p : (%A, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> %T)";
  cases.back().inputs.pop_back();
  cases.back().results = {I32({2}, {1, 3})};
  // The starts -1 and 3 are clamped to 0 and 2, so that the slice of 2 by 2 is
  // inside the operand.
  cases.push_back(
      {"%r = stablehlo.dynamic_slice %a, %b, %c, sizes = [2, 2] : "
       "(%A, %B, tensor<i64>) -> %T",
       {I32({4, 4}, Count(16)), I64({}, {-1}), I64({}, {3})},
       {I32({2, 2}, {2, 3, 6, 7})}});
  cases.push_back(
      {"%r = stablehlo.dynamic_update_slice %a, %b, %c, %c : "
       "(%A, %B, tensor<i64>, tensor<i64>) -> %T",
       {I32({3, 3}, Count(9)), I32({2, 2}, {20, 21, 22, 23}), I64({}, {5})},
       {I32({3, 3}, {0, 1, 2, 3, 20, 21, 6, 22, 23})}});
  cases.push_back(
      {"%r = stablehlo.pad %a, %b, low = [0, 1], high = [2, 1], "
       "interior = [1, 2] : (%A, %B) -> %T",
       {I32({2, 3}, {1, 2, 3, 4, 5, 6}), I32({}, {0})},
       {I32({5, 9}, {0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
                     0, 0, 0, 0, 4, 0, 0, 5, 0, 0, 6, 0, 0, 0, 0,
                     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}});
  cases.push_back(
      {"%r = stablehlo.pad %a, %b, low = [-1], high = [2], "
       "interior = [1] : (%A, %B) -> %T",
       {I32({3}, {1, 2, 3}), I32({}, {9})},
       {I32({6}, {9, 2, 9, 3, 9, 9})}});
  cases.push_back({R"(
      %l = stablehlo.constant dense<[1]> : tensor<1xi64>
      %h = stablehlo.constant dense<[-1]> : tensor<1xi64>
      %i = stablehlo.constant dense<[0]> : tensor<1xi64>
      %r = stablehlo.dynamic_pad %a, %b, %l, %h, %i : (%A, %B, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> %T)",
                   {I32({3}, {1, 2, 3}), I32({}, {9})},
                   {I32({3}, {9, 1, 2})}});
}

void AddGathers(std::vector<OperatorCase>& cases) {
  // The case gathers rows. An index beyond the operand is clamped, and the
  // offset dims are before or after the batch dims.
  cases.push_back({R"(
      %r = "stablehlo.gather"(%a, %b) {
        dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
        slice_sizes = array<i64: 1, 2>, indices_are_sorted = false
      } : (%A, %B) -> %T)",
                   {I32({3, 2}, Count(6)), I32({2, 2, 1}, {2, 0, 9, -4})},
                   {I32({2, 2, 2}, {4, 5, 0, 1, 4, 5, 0, 1})}});
  cases.push_back({R"(
      %r = "stablehlo.gather"(%a, %b) <{
        dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
        slice_sizes = array<i64: 2, 1>}> : (%A, %B) -> %T)",
                   {I32({2, 3}, Count(6)), I32({2}, {2, 0})},
                   {I32({2, 2}, {2, 0, 5, 3})}});
  // The case gathers windows of 2 by 2 of a matrix, whose starts are (row,
  // column).
  cases.push_back({R"(
      %r = "stablehlo.gather"(%a, %b) {
        dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim = 1>,
        slice_sizes = dense<[2, 2]> : tensor<2xi64>
      } : (%A, %B) -> %T)",
                   {I32({3, 3}, Count(9)), I64({2, 2}, {1, 0, 0, 5})},
                   {I32({2, 2, 2}, {1, 2, 4, 5, 3, 4, 6, 7})}});
  // The case gathers with a batch dim that corresponds to one of the indices.
  cases.push_back({R"(
      %r = "stablehlo.gather"(%a, %b) {
        dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
        slice_sizes = array<i64: 1, 1>
      } : (%A, %B) -> %T)",
                   {I32({2, 3}, Count(6)), I64({2, 2, 1}, {2, 1, 0, 2})},
                   {I32({2, 2}, {2, 1, 3, 5})}});
  cases.push_back({R"(
      %s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
      %r = "stablehlo.dynamic_gather"(%a, %b, %s) {
        dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
      } : (%A, %B, tensor<2xi64>) -> %T)",
                   {I32({3, 2}, Count(6)), I32({2}, {2, 0})},
                   {I32({2, 2}, {4, 5, 0, 1})}});
  cases.push_back(
      {"%r = stablehlo.torch_index_select %a, %b, dim = 1, batch_dims = 0 : "
       "(%A, %B) -> %T",
       {I32({2, 3}, Count(6)), I32({2}, {2, 0})},
       {I32({2, 2}, {2, 0, 5, 3})}});
}

std::string Scatter(const std::string& dims, const std::string& body,
                    const std::string& attributes = "") {
  return R"(
      %r = "stablehlo.scatter"(%a, %b, %c) ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        )" +
         body +
         R"(
        stablehlo.return %z : tensor<i32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<)" +
         dims + ">" + attributes + "} : (%A, %B, %C) -> %T";
}

void AddScatters(std::vector<OperatorCase>& cases) {
  const std::string add = "%z = stablehlo.add %x, %y : tensor<i32>";
  // In the next scatters the index 0 occurs twice, so two updates are combined,
  // and the index 3 is out of range, so its update is dropped.
  const std::string rows =
      "update_window_dims = [1], inserted_window_dims = [0], "
      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1";
  const std::vector<Numbers> inputs = {
      I32({3, 2}, Count(6)), I64({4, 1}, {0, 2, 0, 3}),
      I32({4, 2}, {10, 20, 30, 40, 50, 60, 70, 80})};
  cases.push_back(
      {Scatter(rows, add), inputs, {I32({3, 2}, {60, 81, 2, 3, 34, 45})}});
  cases.push_back({Scatter(rows, "%z = stablehlo.maximum %y, %x : tensor<i32>"),
                   inputs,
                   {I32({3, 2}, {50, 60, 2, 3, 30, 40})}});
  // The body (2x + y) is no standard reduction, so the updates must be applied
  // one after the other.
  const std::string twice = R"(%d = stablehlo.add %x, %x : tensor<i32>
        %z = stablehlo.add %d, %y : tensor<i32>)";
  cases.push_back(
      {Scatter(rows, twice), inputs, {I32({3, 2}, {70, 104, 2, 3, 38, 50})}});
  // This case has the same body but no index twice, so all updates can be
  // applied at once.
  cases.push_back(
      {Scatter(rows, twice, ", unique_indices = true"),
       {I32({3, 2}, Count(6)), I64({2, 1}, {2, 0}), I32({2, 2}, {1, 2, 3, 4})},
       {I32({3, 2}, {3, 6, 2, 3, 9, 12})}});
  // The indices are a single index vector, the column 1, so the update is one
  // window of 2 by 2. The body returns the update, which overwrites the
  // operand.
  const std::string assign = "%z = stablehlo.maximum %y, %y : tensor<i32>";
  cases.push_back(
      {Scatter("update_window_dims = [0, 1], scatter_dims_to_operand_dims = "
               "[1], index_vector_dim = 0",
               assign, ", unique_indices = true"),
       {I32({2, 3}, Count(6)), I32({1}, {1}), I32({2, 2}, {10, 20, 30, 40})},
       {I32({2, 3}, {0, 10, 20, 3, 30, 40})}});
  // The case scatters with a batch dim that corresponds to one of the indices.
  cases.push_back(
      {Scatter("inserted_window_dims = [1], input_batching_dims = [0], "
               "scatter_indices_batching_dims = [0], "
               "scatter_dims_to_operand_dims = [1], index_vector_dim = 2",
               add),
       {I32({2, 3}, Count(6)), I64({2, 1, 1}, {2, 0}), I32({2, 1}, {10, 20})},
       {I32({2, 3}, {0, 1, 12, 23, 4, 5})}});
}

}  // namespace

std::vector<OperatorCase> MovementCases() {
  std::vector<OperatorCase> cases;
  AddShapes(cases);
  AddSlices(cases);
  AddGathers(cases);
  AddScatters(cases);
  return cases;
}

}  // namespace ember::tests
