// Makes archives of torch.export for tests, from the schema: a program node by
// node, and its tensors.
//
//   ProgramBuilder program;
//   program.Input("x", DType::kF32, {"s0", "3"});
//   program.Parameter("p_w", "fc.weight", DType::kF32, {2, 3}, bytes);
//   program.Node("aten.linear.default", {Tensor("x"), Tensor("p_w")}, "linear");
//   program.Output("linear");
//   const std::string contents = program.Archive();
//
// A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_TESTING_PROGRAM_BUILDER_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_TESTING_PROGRAM_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "frontends/archive/testing/zip_builder.h"

namespace ember::torch_export {

// An argument that a test gives to a node, as JSON.
struct Given {
  std::string json;
  std::string name;  // If not empty, the argument is passed by this name.
};
Given None();
Given Tensor(const std::string& name);
Given Tensors(const std::vector<std::string>& names);
// Makes an argument that is a list of tensors, by name; "" means None.
Given OptionalTensors(const std::vector<std::string>& names);
Given Int(int64_t value);
Given Ints(const std::vector<int64_t>& values);
Given Float(double value);
Given Bool(bool value);
Given Text(const std::string& value);
Given Type(DType dtype);
Given Device(const std::string& type);
Given SymInt(const std::string& name);
// Makes an argument that is a list of integers. Each is digits, or the name of
// a value.
Given SymInts(const std::vector<std::string>& values);
Given Named(std::string name, Given argument);

// Builds the JSON of a graph: the graph of the program, or a graph that is an
// argument of a node.
class GraphText {
 public:
  // Adds an input that is a tensor. `extents`: each is digits, or an
  // expression.
  void TensorInput(const std::string& name, DType dtype,
                   const std::vector<std::string>& extents);
  void SymIntInput(const std::string& name);
  void ConstantInput(const std::string& json);
  // Adds a node whose single result is a tensor. `target`: without
  // "torch.ops.", unless it is a Python function ("math." and so on).
  void Node(const std::string& target, const std::vector<Given>& inputs,
            const std::string& result);
  // Adds a node with several results.
  void TupleNode(const std::string& target, const std::vector<Given>& inputs,
                 const std::vector<std::string>& results);
  // Adds a node whose single result is a list of tensors, or a number.
  void ListNode(const std::string& target, const std::vector<Given>& inputs,
                const std::vector<std::string>& results);
  void SymNode(const std::string& target, const std::vector<Given>& inputs,
               const std::string& result);
  // Adds a node without results.
  void Effect(const std::string& target, const std::vector<Given>& inputs);
  void Result(const Given& value);
  std::string Json() const;

 private:
  void AddNode(const std::string& target, const std::vector<Given>& inputs,
               const std::string& outputs, const std::string& name);
  std::string inputs_, nodes_, outputs_, tensors_;
};
Given Graph(const std::string& name, const GraphText& graph);

class ProgramBuilder : public GraphText {
 public:
  void Input(const std::string& name, DType dtype,
             const std::vector<std::string>& extents);
  void SymInput(const std::string& name);
  // Adds an input of the graph whose value was fixed during the export.
  void Constant(const std::string& name, int64_t value);
  void Parameter(const std::string& name, const std::string& parameter,
                 DType dtype, const std::vector<int64_t>& dims,
                 const std::vector<uint8_t>& bytes);
  void Buffer(const std::string& name, const std::string& buffer, DType dtype,
              const std::vector<int64_t>& dims,
              const std::vector<uint8_t>& bytes, bool is_persistent = true);
  void TensorConstant(const std::string& name, const std::string& constant,
                      DType dtype, const std::vector<int64_t>& dims,
                      const std::vector<uint8_t>& bytes);
  // Makes the tensor that was added last a view: its elements are those of the
  // storage of the earlier tensor `of`, from index `offset` on.
  void ShareStorage(const std::string& of, int64_t offset);
  void Output(const std::string& name);
  void SymOutput(const std::string& name);
  void BufferMutation(const std::string& name, const std::string& buffer);
  void InputMutation(const std::string& name, const std::string& input);
  void Range(const std::string& symbol, std::optional<int64_t> least,
             std::optional<int64_t> largest);
  void Version(int64_t major, int64_t minor);
  // Sets the description (treespec) of the structure of the results.
  void Arranged(const std::string& out_spec);
  // Adds the tensors of another program, so that an archive of these tensors
  // fits both programs.
  void AddTensorsOf(const ProgramBuilder& other);

  std::string ProgramJson() const;
  // Archive returns an archive in the layout of PyTorch 2.8, OldArchive one in
  // that of 2.3, which does not state which arguments are passed by name.
  std::string Archive() const { return ArchiveOf(ProgramJson()); }
  // Returns an archive with this program's tensors and the given JSON of a
  // program.
  std::string ArchiveOf(const std::string& program_json) const;
  // `with_attributes`: the tensors have Python attributes, as torch.compile
  // adds them to those of a module.
  std::string OldArchive(bool with_attributes = false) const;

 private:
  struct Stored {
    std::string name;
    DType dtype;
    std::vector<int64_t> dims;
    std::vector<uint8_t> bytes;
    bool is_constant;
    // If not empty: name of the earlier tensor whose storage this one shares.
    // `offset` is then the index of its first element there.
    std::string shares = {};
    int64_t offset = 0;
  };
  void Add(const std::string& name, const std::string& spec, Stored stored);
  // Adds the entries of one folder, and returns the JSON that lists them.
  std::string AddPayloads(archive::ZipBuilder& zip, bool constants) const;
  std::string SavedDict(bool constants, bool with_attributes) const;

  std::string input_specs_, output_specs_, ranges_, out_spec_;
  std::vector<Stored> stored_;
  int64_t major_ = 8, minor_ = 8;
};

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_TESTING_PROGRAM_BUILDER_H_
