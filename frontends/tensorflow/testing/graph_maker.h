// Makes TensorFlow graphs for tests, node by node.
//
//   GraphMaker graph;
//   graph.Placeholder("x", DT_FLOAT, {-1, 2});
//   graph.Node("y", "LeakyRelu", {"x"}, {Float("alpha", 0.5)});
//   ImportModelBytes(AsBytes(graph.Finish()), {});
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TENSORFLOW_TESTING_GRAPH_MAKER_H_
#define EMBER_FRONTENDS_TENSORFLOW_TESTING_GRAPH_MAKER_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "third_party/tensorflow/tensorflow.pb.h"

namespace ember::tensorflow {

using TestAttribute = std::pair<std::string, AttrValue>;

TestAttribute Int(const std::string& name, int64_t value);
TestAttribute Float(const std::string& name, float value);
TestAttribute Flag(const std::string& name, bool value);
TestAttribute Text(const std::string& name, const std::string& value);
TestAttribute Texts(const std::string& name,
                    const std::vector<std::string>& values);
TestAttribute Type(const std::string& name, DataType value);
TestAttribute Ints(const std::string& name, const std::vector<int64_t>& values);
TestAttribute Floats(const std::string& name, const std::vector<float>& values);
// Makes an attribute of type shape. An extent of -1 is open.
TestAttribute ShapeOf(const std::string& name,
                      const std::vector<int64_t>& dims);
TestAttribute NoRank(const std::string& name);
TestAttribute Function(const std::string& name, const std::string& function);
TestAttribute Functions(const std::string& name,
                        const std::vector<std::string>& functions);

std::span<const uint8_t> AsBytes(const std::string& text);

// Makes a node with inputs and attributes.
NodeDef MakeNode(const std::string& name, const std::string& op,
                 const std::vector<std::string>& inputs,
                 const std::vector<TestAttribute>& attributes = {});
// Returns a node Const. bytes: the elements as they are in memory.
NodeDef MakeConst(const std::string& name, DataType type,
                  const std::vector<int64_t>& dims, const std::string& bytes);
NodeDef MakeScalar(const std::string& name, float value);
NodeDef MakeInts(const std::string& name, const std::vector<int32_t>& values);
NodeDef MakeInt(const std::string& name, int32_t value);

class GraphMaker {
 public:
  void Placeholder(const std::string& name, DataType type,
                   const std::vector<int64_t>& dims);
  void Node(const std::string& name, const std::string& op,
            const std::vector<std::string>& inputs,
            const std::vector<TestAttribute>& attributes = {});
  void Add(const NodeDef& node) { *graph_.add_node() = node; }
  // Adds a function whose arguments and results may have any type. `results`:
  // maps the name of each result to a value, such as "node:result:0".
  void Function(const std::string& name,
                const std::vector<std::string>& arguments,
                const std::vector<NodeDef>& nodes,
                const std::vector<std::pair<std::string, std::string>>& results,
                const std::vector<std::string>& control_results = {});

  GraphDef& graph() { return graph_; }
  std::string Finish() const;  // binary
  std::string FinishText() const;

 private:
  GraphDef graph_;
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_TESTING_GRAPH_MAKER_H_
