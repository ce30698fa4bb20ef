// Shared by the tests of every model format: writes tensors as numbers,
// compiles and runs an imported graph on them, and compares results.
//
//   ExpectNumbers(RunOnNumbers(ImportModelBytes(file, nullptr, {}),
//                              {F32({2}, {-1, 2})}),
//                 {F32({2}, {1, 2})});
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_FORMATS_NUMBERS_H_
#define EMBER_TESTS_FORMATS_NUMBERS_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "compiler/graph/graph.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

struct Numbers {
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  std::vector<double> values;
};

inline Numbers F32(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kF32, std::move(dims), std::move(values)};
}
inline Numbers I32(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kI32, std::move(dims), std::move(values)};
}
inline Numbers I8(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kI8, std::move(dims), std::move(values)};
}
inline Numbers U8(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kU8, std::move(dims), std::move(values)};
}
inline Numbers I64(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kI64, std::move(dims), std::move(values)};
}

// Makes a tensor of the values in order. There must be as many as the dims say.
vm::Tensor MakeTensor(const Numbers& numbers);
std::string BytesOf(const Numbers& numbers);
Numbers ReadNumbers(const vm::Tensor& tensor);

// Compiles and runs a graph on the CPU with one thread.
StatusOr<std::vector<vm::Tensor>> RunGraph(
    StatusOr<graph::Graph> graph, const std::vector<vm::Tensor>& inputs,
    const std::set<std::string>& disabled_passes = {});
// Does what RunGraph does, with operands and results as numbers. Returns all
// results; new values of the state come last.
StatusOr<std::vector<Numbers>> RunOnNumbers(StatusOr<graph::Graph> graph,
                                            const std::vector<Numbers>& inputs);

// Expects that a tensor has these strings.
void ExpectStrings(const vm::Tensor& got, const std::vector<int64_t>& dims,
                   const std::vector<std::string>& values);

// Expects that `results` is OK and equals `expected`: types and dims are equal,
// and each value differs by at most `tolerance` * max(1, |expected value|).
void ExpectNumbers(const StatusOr<std::vector<Numbers>>& results,
                   const std::vector<Numbers>& expected,
                   double tolerance = 1e-5);

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_NUMBERS_H_
