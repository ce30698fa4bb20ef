// Tests parameters, buffers and constants that share a storage, where the
// program writes to one of them.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "frontends/torch_export/testing/program_builder.h"
#include "tests/torch_export/one_node.h"

namespace ember::tests {
namespace {

using torch_export::Int;
using torch_export::ProgramBuilder;

torch_export::Given T(const std::string& name) {
  return torch_export::Tensor(name);
}

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Returns the program in the new and in the old layout of archives.
std::vector<std::string> Archives(const ProgramBuilder& program) {
  return {program.Archive(), program.OldArchive()};
}

TEST(SharedStorage, AWriteIsSeenThroughTheOtherName) {
  ProgramBuilder p;
  p.Buffer("b_a", "a", DType::kF32, {2}, Floats({0, 0}));
  p.Buffer("b_b", "b", DType::kF32, {2}, {});
  p.ShareStorage("a", 0);
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.add_.Tensor", {T("b_b"), T("x")}, "add_");
  p.Node("aten.mul.Tensor", {T("b_a"), Int(10)}, "y");
  p.Output("y");
  // Buffers a and b share one storage, so the program has one state: its second
  // input and result.
  for (const std::string& archive : Archives(p)) {
    ExpectNumbers(RunArchive(archive, {F32({2}, {1, 2}), F32({2}, {0, 0})}),
                  {F32({2}, {10, 20}), F32({2}, {1, 2})});
    ExpectNumbers(RunArchive(archive, {F32({2}, {1, 2}), F32({2}, {5, 5})}),
                  {F32({2}, {60, 70}), F32({2}, {6, 7})});
  }
}

TEST(SharedStorage, AStateIsReadThroughTheOtherNameByTheNextCall) {
  ProgramBuilder p;
  p.Buffer("b_a", "a", DType::kF32, {2}, Floats({0, 0}));
  p.Buffer("b_b", "b", DType::kF32, {2}, {});
  p.ShareStorage("a", 0);
  p.Input("x", DType::kF32, {"2"});
  p.Node("aten.add.Tensor", {T("b_b"), T("x")}, "y");
  p.BufferMutation("y", "a");
  p.Output("y");
  for (const std::string& archive : Archives(p)) {
    ExpectNumbers(RunArchive(archive, {F32({2}, {1, 2}), F32({2}, {30, 40})}),
                  {F32({2}, {31, 42}), F32({2}, {31, 42})});
  }
}

TEST(SharedStorage, PartsThatOverlapAreRefusedIfOneIsWritten) {
  for (const bool in_place : {true, false}) {
    ProgramBuilder p;
    p.Buffer("b_a", "a", DType::kF32, {4}, Floats({0, 0, 0, 0}));
    p.Buffer("b_b", "b", DType::kF32, {2}, {});
    p.ShareStorage("a", 2);
    p.Input("x", DType::kF32, {"4"});
    p.Node(in_place ? "aten.add_.Tensor" : "aten.add.Tensor",
           {T("b_a"), T("x")}, "sum");
    p.Node("aten.neg.default", {T("b_b")}, "y");
    if (!in_place) p.BufferMutation("sum", "a");
    p.Output("y");
    for (const std::string& archive : Archives(p)) {
      ExpectImportError(
          archive,
          "tensor 'a', which the program writes to: expected elements of its "
          "own, found that it shares a storage with tensor 'b'");
    }
  }
}

TEST(SharedStorage, ElementsOfTwoTypesAreRefusedIfOneIsWritten) {
  ProgramBuilder p;
  p.Buffer("b_a", "a", DType::kF32, {2}, Floats({1, 2}));
  p.Buffer("b_b", "b", DType::kI32, {2}, {});
  p.ShareStorage("a", 0);
  p.Node("aten.add_.Tensor", {T("b_a"), Int(1)}, "add_");
  p.Node("aten.neg.default", {T("b_b")}, "y");
  p.Output("y");
  for (const std::string& archive : Archives(p))
    ExpectImportError(archive, "shares a storage with tensor 'b'");
}

TEST(SharedStorage, WhatIsNotWrittenMayOverlapWhatIsDisjointMayBeWritten) {
  ProgramBuilder p;
  p.Buffer("b_a", "a", DType::kF32, {4}, Floats({0, 0, 5, 6}));
  p.Buffer("b_b", "b", DType::kF32, {2}, {});
  p.ShareStorage("a", 2);
  p.Buffer("b_bits", "bits", DType::kI32, {1}, {});
  p.ShareStorage("a", 3);
  p.Node("aten.add.Tensor", {T("b_b"), Int(1)}, "y");
  p.Output("y");
  p.Output("b_a");
  p.Output("b_bits");
  for (const std::string& archive : Archives(p)) {
    ExpectNumbers(RunArchive(archive, {}), {F32({2}, {6, 7}),
                                            F32({4}, {0, 0, 5, 6}),
                                            {DType::kI32, {1}, {0x40c00000}}});
  }
  ProgramBuilder halves;
  halves.Buffer("b_a", "a", DType::kF32, {2}, Floats({0, 0, 5, 6}));
  halves.Buffer("b_b", "b", DType::kF32, {2}, {});
  halves.ShareStorage("a", 2);
  halves.Node("aten.add_.Tensor", {T("b_a"), Int(1)}, "add_");
  halves.Node("aten.add.Tensor", {T("b_a"), T("b_b")}, "y");
  halves.Output("y");
  for (const std::string& archive : Archives(halves)) {
    ExpectNumbers(RunArchive(archive, {F32({2}, {2, 3})}),
                  {F32({2}, {8, 10}), F32({2}, {3, 4})});
  }
}

}  // namespace
}  // namespace ember::tests
