// A CUDA graph of recorded commands, ready to be launched any number of times.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph,
//                          Graph::Create(context, commands));
//   context.Check("cuGraphLaunch", cu.GraphLaunch(graph->handle(), stream));
//
// Each command depends on all commands before the barrier that precedes it, and
// on no other command.
#ifndef EMBER_HAL_CUDA_GRAPH_H_
#define EMBER_HAL_CUDA_GRAPH_H_

#include <memory>
#include <span>

#include "base/status.h"
#include "hal/cuda/command_list.h"
#include "hal/cuda/context.h"

namespace ember::hal::cuda {

class Graph {
 public:
  // Makes a graph of the commands. The context must be current during the call,
  // and must outlive the graph.
  static StatusOr<std::unique_ptr<Graph>> Create(
      Context& context, std::span<const Command> commands);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  CUgraphExec handle() const { return executable_; }

 private:
  explicit Graph(Context& context) : context_(context) {}

  Context& context_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_GRAPH_H_
