#include "hal/cuda/graph.h"

#include <vector>

namespace ember::hal::cuda {
namespace {

// Builds the graph: adds the nodes of the commands in order.
class Builder {
 public:
  Builder(Context& context, CUgraph graph) : context_(context), graph_(graph) {}

  Status Add(const Command& command) {
    const Functions& cu = context_.cu();
    CUgraphNode node = nullptr;
    switch (command.kind) {
      case Command::Kind::kBarrier:
        return Barrier();
      case Command::Kind::kCopy: {
        CUDA_MEMCPY3D copy;
        copy.srcMemoryType = copy.dstMemoryType = kMemoryTypeUnified;
        copy.srcDevice = command.source;
        copy.dstDevice = command.target;
        copy.srcPitch = copy.dstPitch = copy.WidthInBytes = command.bytes;
        copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
        EMBER_RETURN_IF_ERROR(context_.Check(
            "cuGraphAddMemcpyNode",
            cu.GraphAddMemcpyNode(&node, graph_, before_.data(), before_.size(),
                                  &copy, context_.handle())));
        break;
      }
      case Command::Kind::kFill: {
        CUDA_MEMSET_NODE_PARAMS fill;
        fill.dst = command.target;
        fill.value = command.value;
        fill.width = command.bytes;
        EMBER_RETURN_IF_ERROR(context_.Check(
            "cuGraphAddMemsetNode",
            cu.GraphAddMemsetNode(&node, graph_, before_.data(), before_.size(),
                                  &fill, context_.handle())));
        break;
      }
      case Command::Kind::kDispatch: {
        std::vector<void*> arguments = PointersToArguments(command);
        CUDA_KERNEL_NODE_PARAMS kernel;
        kernel.func = command.executable->function();
        kernel.gridDimX = command.chunks[0];
        kernel.gridDimY = command.chunks[1];
        kernel.gridDimZ = command.chunks[2];
        kernel.blockDimX = command.executable->workgroup()[0];
        kernel.blockDimY = command.executable->workgroup()[1];
        kernel.blockDimZ = command.executable->workgroup()[2];
        kernel.sharedMemBytes = command.executable->shared_bytes();
        kernel.kernelParams = arguments.data();
        EMBER_RETURN_IF_ERROR(
            context_.Check("cuGraphAddKernelNode",
                           cu.GraphAddKernelNode(&node, graph_, before_.data(),
                                                 before_.size(), &kernel)));
        break;
      }
    }
    since_.push_back(node);
    return OkStatus();
  }

 private:
  // Ends the commands since the last barrier. If there are several, adds an
  // empty node that depends on all of them and on which later commands depend.
  // Without it each later command would need an edge from each of them.
  Status Barrier() {
    if (since_.empty()) return OkStatus();
    before_ = std::move(since_);
    since_.clear();
    if (before_.size() == 1) return OkStatus();
    CUgraphNode node = nullptr;
    EMBER_RETURN_IF_ERROR(
        context_.Check("cuGraphAddEmptyNode",
                       context_.cu().GraphAddEmptyNode(
                           &node, graph_, before_.data(), before_.size())));
    before_ = {node};
    return OkStatus();
  }

  Context& context_;
  const CUgraph graph_;
  // The node on which new commands depend: the last barrier's. The list is
  // empty before the first barrier.
  std::vector<CUgraphNode> before_;
  std::vector<CUgraphNode> since_;
};

}  // namespace

std::vector<void*> PointersToArguments(const Command& command) {
  std::vector<void*> pointers;
  pointers.reserve(command.arguments.size() + command.maps.size());
  // CUDA's declaration takes pointers to non-const, but CUDA only reads the
  // arguments.
  for (const uint64_t& argument : command.arguments)
    pointers.push_back(const_cast<uint64_t*>(&argument));
  for (const CUtensorMap& map : command.maps)
    pointers.push_back(const_cast<CUtensorMap*>(&map));
  return pointers;
}

StatusOr<std::unique_ptr<Graph>> Graph::Create(
    Context& context, std::span<const Command> commands) {
  const Functions& cu = context.cu();
  std::unique_ptr<Graph> graph(new Graph(context));
  EMBER_RETURN_IF_ERROR(
      context.Check("cuGraphCreate", cu.GraphCreate(&graph->graph_, 0)));
  Builder builder(context, graph->graph_);
  for (const Command& command : commands)
    EMBER_RETURN_IF_ERROR(builder.Add(command));
  EMBER_RETURN_IF_ERROR(context.Check(
      "cuGraphInstantiate",
      cu.GraphInstantiate(&graph->executable_, graph->graph_, 0)));
  return graph;
}

Graph::~Graph() {
  const Context::Current current(context_);
  if (!current.status().ok()) return;
  if (executable_ != nullptr) context_.cu().GraphExecDestroy(executable_);
  if (graph_ != nullptr) context_.cu().GraphDestroy(graph_);
}

}  // namespace ember::hal::cuda
