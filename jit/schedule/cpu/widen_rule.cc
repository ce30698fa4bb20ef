
#include "jit/schedule/cpu/widen_rule.h"

#include <algorithm>
#include <vector>

#include "jit/schedule/rules/stage_groups.h"

namespace ember::schedule {
namespace {

// Smallest number of reads of an element for which a widened copy is made. An
// element that is read less often is widened at each read.
constexpr double kManyReads = 3;

// True if the load is of f16 or bf16 and a factor of the product casts it to
// f32.
bool IsWidened(const Computation& c, const StageShape& shape, NodeId load) {
  const DType type = c.pool[load].type;
  if (!IsNarrowFloat(type)) return false;
  const tensor::Node& product = c.pool[shape.stage().values[0]];
  return std::ranges::any_of(product.operands, [&](NodeId factor) {
    const tensor::Node& cast = c.pool[factor];
    return cast.opcode == tensor::Opcode::kCast && cast.type == DType::kF32 &&
           cast.operands[0] == load;
  });
}

}  // namespace

bool ReadsWideCopy(const Computation& computation, const StageShape& shape,
                   const RegisterTile& tile, NodeId load) {
  if (!IsWidened(computation, shape, load)) return false;
  double reads = static_cast<double>(shape.LikelyPoints()) /
                 static_cast<double>(shape.LikelyBufferBytes(load)) *
                 shape.BytesOf(load);
  // Results along the tile's rows, or along its vectors, share a read if the
  // load does not move along that axis.
  if (tile.u >= 0 && shape.StrideOf(load, tile.u) == Stride::kNone)
    reads /= static_cast<double>(tile.rows);
  if (shape.StrideOf(load, tile.v) == Stride::kNone)
    reads /= static_cast<double>(tile.width());
  return reads > kManyReads;
}

void WidenTemporaries(ScheduleWriter& writer) {
  std::vector<StageRef> stages;
  for (const ComputationStage& stage : writer.computation().stages)
    stages.push_back({stage.name});
  for (const StageRef& stage : stages) {
    std::vector<BufferRef> buffers;
    {
      const Computation& c = writer.computation();
      const StageShape shape(c, writer.NumberOf(stage));
      if (!shape.IsProduct()) continue;
      for (NodeId load : shape.loads()) {
        const ComputationBuffer& buffer = c.buffers[c.pool[load].buffer];
        const int maker = c.FindStage(buffer.name);
        if (IsWidened(c, shape, load) &&
            buffer.role == BufferRole::kTemporary &&
            !(maker >= 0 && IsLookupForProducts(c, maker))) {
          buffers.push_back({buffer.name});
        }
      }
    }
    // The copy is refused if loads of the buffer differ in more than their
    // indices. The product then widens at each read.
    for (const BufferRef& buffer : buffers) {
      writer.Try(CacheRead{.reader = stage,
                           .buffer = buffer,
                           .type = DType::kF32,
                           .copy = buffer.name + ".wide"});
    }
  }
}

}  // namespace ember::schedule
