#include "frontends/torchscript/testing/sample_models.h"

#include <cstring>
#include <vector>

#include "frontends/torchscript/testing/archive_builder.h"

namespace ember::torchscript {
namespace {

std::vector<uint8_t> Floats(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

constexpr std::string_view kNames[] = {"layers", "branch", "loop", "counter",
                                       "first",  "views",  "texts"};

// Adds a model that computes y = relu(x W^T + b) in a submodule `fc`.
void AddLayers(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  __parameters__ = []
  training : bool
  fc : __torch__.layers.Linear
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    fc = self.fc
    y = torch.relu((fc).forward(x, ))
    return y
)");
  archive.Code(R"(class Linear(Module):
  __parameters__ = ["weight", "bias", ]
  weight : Tensor
  bias : Optional[Tensor]
  def forward(self: __torch__.layers.Linear,
    input: Tensor) -> Tensor:
    return torch.linear(input, self.weight, self.bias)
)",
               "__torch__.layers");
  archive.Flag("training", true);
  archive.Begin("fc", "__torch__.layers.Linear");
  archive.Tensor("weight", DType::kF32, {2, 3}, Floats({1, 2, 3, -1, 0, 1}));
  archive.Tensor("bias", DType::kF32, {2}, Floats({0.5, -0.5}));
  archive.End();
}

// A model that returns 2 x if the sum of x is positive, else -x. A sum that is
// too large is an error.
void AddBranch(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tuple[Tensor, int]:
    _0 = "too large: {}"
    total = torch.sum(x)
    if bool(torch.gt(total, 1000)):
      ops.prim.RaiseException(torch.format(_0, 1000))
    else:
      pass
    if bool(torch.gt(total, 0)):
      y = torch.mul(x, 2)
      times = 2
    else:
      y = torch.neg(x)
      times = -1
    return (y, times)
)");
}

// A model that doubles x until the sum of x is at least 100.
void AddLoop(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tuple[Tensor, int]:
    y = x
    count = 0
    _0 = torch.lt(torch.sum(y), 100)
    _1 = bool(_0)
    while _1:
      y0 = torch.mul(y, 2)
      count0 = torch.add(count, 1)
      _1 = bool(torch.lt(torch.sum(y0), 100))
      y, count = y0, count0
    return (y, count)
)");
}

// A model that adds up its inputs, beginning with (1, 1, 1), and counts the
// calls.
void AddCounter(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  sums : Tensor
  count : int
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    sums = self.sums
    _0 = torch.add_(sums, torch.sum(x, [0]))
    self.count = torch.add(self.count, 1)
    return torch.div(self.sums, self.count)
)");
  archive.Tensor("sums", DType::kF32, {3}, Floats({1, 1, 1}));
  archive.Integer("count", 0);
}

// Adds a model with state that changes its type: the x of the last call, which
// is None before the first call.
void AddFirst(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  last : Optional[Tensor]
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    last = self.last
    if torch.__is__(last, None):
      y = torch.zeros_like(x)
    else:
      y = unchecked_cast(Tensor, last)
    self.last = x
    return y
)");
  archive.None("last");
}

// Writes through views.
void AddViews(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    y = torch.clone(x)
    _0 = torch.fill_(torch.select(y, 0, 1), 7)
    _1 = torch.copy_(torch.slice(torch.t(y), 0, 1, 2), torch.ones([1, 2]))
    _2 = torch.mul_(torch.slice(torch.view(y, [-1]), 0, 0, 9223372036854775807, 2), 10)
    return y
)");
}

// A model that uses lists, dicts, texts, and loops of known length.
void AddTexts(ArchiveBuilder& archive) {
  archive.Code(R"(class Net(Module):
  scale : Final[float] = 0.5
  def forward(self: __torch__.Net,
    x: Tensor,
    mode: str="sum") -> Dict[str, Tensor]:
    parts = annotate(List[Tensor], [])
    names = {"a": 1, "b": 2}
    for i in range(3):
      _0 = torch.append(parts, torch.mul(torch.select(x, 1, i), torch.add(i, names["b"])))
    if torch.eq(mode, "sum"):
      y = torch.add(parts[0], parts[1])
    else:
      y = parts[-1]
    return {"y": torch.mul(y, self.scale), "all": torch.stack(parts, 1)}
)");
  archive.Entry("net/extra/labels.txt", "cat\ndog");
  archive.Entry("net/extra/model.bin", "\xff");
}

}  // namespace

std::span<const std::string_view> SampleModelNames() { return kNames; }

std::string SampleModel(std::string_view name) {
  ArchiveBuilder archive;
  if (name == "layers") AddLayers(archive);
  if (name == "branch") AddBranch(archive);
  if (name == "loop") AddLoop(archive);
  if (name == "counter") AddCounter(archive);
  if (name == "first") AddFirst(archive);
  if (name == "views") AddViews(archive);
  if (name == "texts") AddTexts(archive);
  archive.TracedInput(DType::kF32, {2, 3});
  return archive.Finish();
}

}  // namespace ember::torchscript
