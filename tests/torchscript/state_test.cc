// Tests the state that a module keeps between calls: the attributes that its
// code changes.
#include "frontends/torchscript/state.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/torchscript/testing/archive_builder.h"
#include "frontends/torchscript/testing/sample_models.h"
#include "tests/torchscript/import_archive.h"
#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

using torchscript::ArchiveBuilder;
using torchscript::SampleModel;

const Numbers kInput = F32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(State, ThatBeginsWithNumbers) {
  // The attributes that a call changes are state: they are inputs after x,
  // whose first values are zeros, and results after y.
  const std::string archive = SampleModel("counter");
  const StatusOr<graph::Graph> graph = Import(archive);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->inputs().size(), 4u);
  EXPECT_EQ(graph->inputs()[1]->name(), "count");
  EXPECT_EQ(graph->inputs()[2]->name(), "sums");
  EXPECT_EQ(graph->inputs()[3]->name(), "started");
  EXPECT_EQ(graph->input_logical_types()[1], frontends::kStateType);
  std::vector<Numbers> state = {
      I64({}, {0}), F32({3}, {0, 0, 0}), {DType::kBool, {}, {0}}};
  const std::vector<std::vector<double>> sums = {{6, 8, 10}, {11, 15, 19}};
  for (size_t call = 0; call < 2; ++call) {
    const auto results =
        RunTorchArchive(archive, {kInput, state[0], state[1], state[2]});
    const auto count = static_cast<double>(call + 1);
    std::vector<double> mean = sums[call];
    for (double& one : mean) one /= count;
    ExpectNumbers(results, {F32({3}, mean),
                            I64({}, {count}),
                            F32({3}, sums[call]),
                            {DType::kBool, {}, {1}}});
    ASSERT_TRUE(results.ok());
    state.assign(results->begin() + 1, results->end());
  }
}

TEST(State, ThatTheFirstCallMakes) {
  const std::string archive = SampleModel("first");
  const Numbers zeros = F32({2, 3}, std::vector<double>(6));
  const Numbers no = {DType::kBool, {}, {0}};
  const Numbers yes = {DType::kBool, {}, {1}};
  ExpectNumbers(RunTorchArchive(archive, {kInput, zeros, no}),
                {zeros, kInput, yes});
  const Numbers last = F32({2, 3}, {9, 8, 7, 6, 5, 4});
  ExpectNumbers(RunTorchArchive(archive, {kInput, last, yes}),
                {last, kInput, yes});
}

// Lists that do not change are not state, however they contain each other and
// however long they are.
TEST(State, ListsOfModulesStayAsTheyAre) {
  // The pickle contains a list of 200 items, each of which is the list itself,
  // so a search that visits every path through the lists would not end.
  std::string itself = "]q\x01(";
  for (int i = 0; i < 200; ++i) itself += "h\x01";
  std::string numbers = "](";
  for (int i = 0; i < 150'000; ++i) numbers += torchscript::PickleInteger(i);
  for (const std::string& list : {itself, numbers}) {
    ArchiveBuilder archive;
    archive.Code(R"(class Net(Module):
  l : List[int]
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    return torch.neg(x0)
)");
    archive.Pickled("l", list + "e");
    archive.TracedInput(DType::kF32, {1});
    ExpectNumbers(RunTorchArchive(archive.Finish(), {F32({1}, {2})}),
                  {F32({1}, {-2})});
  }
}

// A list that a call makes anew of the same items, as the anchors of
// torchvision's detectors, or that it assigns before it reads it, as the
// pyramid of RAFT, is no state. A list that the next call would read is
// refused.
TEST(State, ListsThatCallsReplace) {
  const auto import = [](const std::string& body) {
    ArchiveBuilder archive;
    archive.Code(R"(class Net(Module):
  l : List[int]
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    )" + body);
    archive.Pickled("l", "](" + torchscript::PickleInteger(3) + "e");
    archive.TracedInput(DType::kF32, {1});
    return archive.Finish();
  };
  const std::vector<Numbers> two = {F32({1}, {2})};
  ExpectNumbers(RunTorchArchive(import("l = self.l\n"
                                       "    self.l = [l[0]]\n"
                                       "    return torch.mul(x0, l[0])\n"),
                                two),
                {F32({1}, {6})});
  const std::string appended =
      "self.l = [4]\n"
      "    torch.append(self.l, 5)\n"
      "    return torch.mul(x0, (self.l)[1])\n";
  ExpectNumbers(RunTorchArchive(import(appended), two), {F32({1}, {10})});
  ExpectError(import("y = torch.mul(x0, (self.l)[0])\n"
                     "    self.l = [4]\n"
                     "    return y\n"),
              "attribute 'l', which the model changes: expected a tensor or "
              "number, or a value that later calls keep, found a list of 1");
}

// Each tensor of a tuple or list that the model keeps, such as the hidden state
// of a recurrent layer, is a state. The list is empty before the first call.
TEST(State, TuplesAndListsOfTensors) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  h : Tuple[Tensor, Tensor]
  l : List[Tensor]
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    a, b, = self.h
    self.h = (torch.add(a, x0), torch.add(b, 1))
    if torch.eq(torch.len(self.l), 0):
      y = x0
    else:
      y = torch.add((self.l)[0], x0)
    self.l = [y]
    return torch.mul(y, 1)
)");
  const auto tensor = [](const std::string& key) {
    return torchscript::PickleTensor(key, DType::kF32, {1}, {1}, 0);
  };
  const std::string bytes = BytesOf(F32({1}, {5}));
  archive.Tensor("w", DType::kF32, {1}, {bytes.begin(), bytes.end()});
  archive.Pickled("h", tensor("0") + tensor("0") + "\x86");
  archive.Pickled("l", "]");
  archive.TracedInput(DType::kF32, {1});
  const std::string file = archive.Finish();
  const StatusOr<graph::Graph> graph = Import(file);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(graph->inputs().size(), 5u);
  EXPECT_EQ(graph->inputs()[1]->name(), "h.0");
  EXPECT_EQ(graph->inputs()[2]->name(), "h.1");
  EXPECT_EQ(graph->inputs()[3]->name(), "l.0");
  EXPECT_EQ(graph->inputs()[4]->name(), "started");
  const Numbers zero = F32({1}, {0});
  const Numbers no = {DType::kBool, {}, {0}};
  const Numbers yes = {DType::kBool, {}, {1}};
  ExpectNumbers(
      RunTorchArchive(file, {F32({1}, {2}), zero, zero, zero, no}),
      {F32({1}, {2}), F32({1}, {7}), F32({1}, {6}), F32({1}, {2}), yes});
  ExpectNumbers(
      RunTorchArchive(file, {F32({1}, {3}), F32({1}, {7}), F32({1}, {6}),
                             F32({1}, {2}), yes}),
      {F32({1}, {5}), F32({1}, {10}), F32({1}, {7}), F32({1}, {5}), yes});
}

// A list of integers that depends only on shapes is computed by the first call
// and kept for later ones, as the scales of torchvision's MultiScaleRoIAlign.
// It is no state, because every call would compute the same list.
TEST(State, NumbersThatTheFirstCallSettles) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  l : Optional[List[int]]
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    if torch.__is__(self.l, None):
      self.l = [torch.size(x0, 0), 7]
    else:
      pass
    l = self.l
    return torch.mul(x0, unchecked_cast(List[int], l)[1])
)");
  archive.None("l");
  archive.TracedInput(DType::kF32, {1});
  const StatusOr<graph::Graph> graph = Import(archive.Finish());
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->inputs().size(), 1u);
}

}  // namespace
}  // namespace ember::tests
