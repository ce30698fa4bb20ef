// One import of a torch.export archive's program.
//
//   ProgramImporter importer(file, options, steps);
//   StatusOr<graph::Graph> graph = importer.Import();
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_IMPORTER_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_IMPORTER_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/torch_export/exported_file.h"
#include "frontends/torch_export/graph_importer.h"
#include "frontends/torch_export/shared_storages.h"
#include "frontends/torchscript/machine.h"

namespace ember::torch_export {

class ProgramImporter {
 public:
  ProgramImporter(const ExportedFile& file,
                  const frontends::ImportOptions& options,
                  frontends::ImportSteps& steps)
      : file_(file),
        program_(file.program()),
        shared_(file),
        options_(options),
        steps_(steps) {}

  StatusOr<graph::Graph> Import();
  // Returns the inputs that the user gives, in the program's order.
  StatusOr<std::vector<frontends::ModelInput>> Inputs() const;

 private:
  // State: a buffer or parameter that the program changes. It becomes an input
  // (`before`) and a result (`after`) of the graph. `initial`: its contents in
  // the archive.
  struct State {
    torchscript::StoredTensor initial;
    torchscript::Tensor before;  // the input
    torchscript::Tensor after;
  };
  struct Results {
    std::vector<std::string> names;
    std::vector<graph::Value*> values;
  };

  bool IsUserInput(size_t i) const;
  StatusOr<graph::Graph> ImportOnce();
  Status CheckRanges(const std::vector<frontends::ModelInput>& inputs,
                     const std::vector<graph::Value*>& values,
                     graph::GraphBuilder& builder) const;
  // Makes the program check each dim of an input that is an expression of other
  // dims. Returns the inputs with these dims replaced by the expressions.
  static std::vector<graph::Value*> Related(
      const std::vector<frontends::ModelInput>& inputs,
      std::vector<graph::Value*> values, graph::GraphBuilder& builder);
  Status AddState(graph::GraphBuilder& builder);
  // Returns the value of a parameter, buffer or constant: the state's input if
  // the program writes to it, else the tensor in the archive.
  StatusOr<Value> StoredValue(const std::string& name,
                              torchscript::Machine& machine);
  // Returns the values of the graph's inputs. `user`: the values of the inputs
  // that the user gives.
  StatusOr<std::vector<Value>> InputValues(
      const std::vector<graph::Value*>& user, torchscript::Machine& machine,
      GraphImporter& importer);
  // Divides the outputs of the program into results for the user, which keep
  // the program's names, and new values of states. An input of the user that
  // the program writes to becomes a result, too.
  StatusOr<Results> Sort(const std::vector<Value>& inputs,
                         const std::vector<uint64_t>& stamps,
                         const std::vector<Value>& outputs,
                         torchscript::Machine& machine);
  Status AddOutputs(const Results& results, graph::GraphBuilder& builder);
  std::string FlagName() const;

  const ExportedFile& file_;
  const Program& program_;
  const SharedStorages shared_;
  const frontends::ImportOptions& options_;
  frontends::ImportSteps& steps_;
  // The states, by the name of the buffer. For buffers with the same elements
  // it is the first one's name (SharedStorages::FirstOf). Running the graph may
  // add states.
  std::map<std::string, State> states_;
  torchscript::Tensor started_;
  bool has_news_ = false;
};

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_IMPORTER_H_
