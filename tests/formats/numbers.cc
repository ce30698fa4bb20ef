#include "tests/formats/numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/check.h"
#include "compiler/compile.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/tensors/elements.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

void ExpectOne(const Numbers& got, const Numbers& want, double tolerance) {
  EXPECT_EQ(DTypeName(got.type), DTypeName(want.type));
  EXPECT_EQ(got.dims, want.dims);
  ASSERT_EQ(got.values.size(), want.values.size());
  for (size_t i = 0; i < want.values.size(); ++i) {
    // Equal values need no tolerance. This check also accepts two equal
    // infinities, whose difference is NaN.
    if (got.values[i] == want.values[i]) continue;
    if (std::isnan(got.values[i]) && std::isnan(want.values[i])) continue;
    EXPECT_NEAR(got.values[i], want.values[i],
                tolerance * std::max(1.0, std::abs(want.values[i])))
        << "element " << i;
  }
}

}  // namespace

vm::Tensor MakeTensor(const Numbers& numbers) {
  StatusOr<vm::Tensor> tensor =
      vm::Tensor::Allocate(numbers.type, numbers.dims);
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  EMBER_CHECK(tensor->element_count() ==
              static_cast<int64_t>(numbers.values.size()))
      << "as many values as the dims say";
  for (size_t i = 0; i < numbers.values.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (IsFloat(numbers.type)) {
      tools::SetFloatElement(*tensor, index, numbers.values[i]);
    } else {
      tools::SetIntegerElement(*tensor, index,
                               static_cast<int64_t>(numbers.values[i]));
    }
  }
  return *std::move(tensor);
}

std::string BytesOf(const Numbers& numbers) {
  const vm::Tensor tensor = MakeTensor(numbers);
  return {static_cast<const char*>(tensor.data),
          static_cast<size_t>(tensor.byte_size)};
}

Numbers ReadNumbers(const vm::Tensor& tensor) {
  Numbers numbers{tensor.type, tensor.dims, {}};
  for (int64_t i = 0; i < tensor.element_count(); ++i)
    numbers.values.push_back(tools::FloatElement(tensor, i));
  return numbers;
}

StatusOr<std::vector<vm::Tensor>> RunGraph(
    StatusOr<graph::Graph> graph, const std::vector<vm::Tensor>& inputs,
    const std::set<std::string>& disabled_passes) {
  if (!graph.ok()) return graph.status();
  compiler::CompileOptions compile_options;
  compile_options.disabled_passes = disabled_passes;
  EMBER_ASSIGN_OR_RETURN(auto definition,
                         compiler::Compile(*std::move(graph), compile_options));
  EMBER_ASSIGN_OR_RETURN(auto module,
                         vm::Module::FromDefinition(std::move(definition)));
  EMBER_ASSIGN_OR_RETURN(auto device, tools::OpenDevice("cpu", 1));
  vm::SessionOptions options;
  options.device = device;
  options.strings = vm::NewStringSupport;
  EMBER_ASSIGN_OR_RETURN(auto session, vm::Session::Create(module, options));
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  return results;
}

StatusOr<std::vector<Numbers>> RunOnNumbers(
    StatusOr<graph::Graph> graph, const std::vector<Numbers>& inputs) {
  std::vector<vm::Tensor> tensors;
  for (const Numbers& input : inputs) tensors.push_back(MakeTensor(input));
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> results,
                         RunGraph(std::move(graph), tensors));
  std::vector<Numbers> numbers;
  for (const vm::Tensor& result : results)
    numbers.push_back(ReadNumbers(result));
  return numbers;
}

void ExpectStrings(const vm::Tensor& got, const std::vector<int64_t>& dims,
                   const std::vector<std::string>& values) {
  EXPECT_EQ(got.dims, dims);
  ASSERT_NE(got.strings, nullptr);
  EXPECT_EQ(*got.strings, values);
}

void ExpectNumbers(const StatusOr<std::vector<Numbers>>& results,
                   const std::vector<Numbers>& expected, double tolerance) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ASSERT_EQ(results->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    ExpectOne((*results)[i], expected[i], tolerance);
  }
}

}  // namespace ember::tests
