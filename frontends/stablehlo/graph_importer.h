// Turns a function of a StableHLO module into a graph.
//
//   GraphImporter importer(module, options);
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, importer.Import());
//
// Calls are inlined. Errors are one line that names the operation, with its
// line and column. All unsupported operators are in one error. The module and
// the options must outlive the importer. Not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_GRAPH_IMPORTER_H_
#define EMBER_FRONTENDS_STABLEHLO_GRAPH_IMPORTER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/stablehlo/module.h"
#include "frontends/stablehlo/operation_context.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {

class GraphImporter {
 public:
  GraphImporter(const Module& module, const frontends::ImportOptions& options)
      : module_(module),
        options_(options),
        builder_("main", options.operation_limit) {}

  StatusOr<graph::Graph> Import();
  // Returns the inputs of the entry function, in the order of its arguments.
  StatusOr<std::vector<frontends::ModelInput>> Inputs() const;

 private:
  // The values of a function or region while it is imported.
  struct Scope {
    const Function* function = nullptr;
    graph::GraphBuilder* builder = nullptr;
    // The region that the builder builds; null if it builds the graph itself.
    graph::Region* region = nullptr;
    // The scope of the enclosing region in the same function; null for the
    // outermost.
    Scope* outer = nullptr;
    int depth = 0;
    bool lifted = false;
    std::map<int, Imported> values;
  };
  class ScopeImporter;

  StatusOr<const Function*> Entry() const;
  Status AddOutput(const Imported& value, const Type& type, std::string name);

  std::vector<Imported> RunRegion(const Region& region,
                                  std::vector<Imported> arguments,
                                  Scope& scope);
  std::vector<Imported> Call(std::string_view name,
                             std::vector<Imported> arguments, Scope& scope);
  StatusOr<std::vector<Imported>> RunOperations(const Region& region,
                                                Scope& scope);
  Status ImportOperation(const Operation& operation, Scope& scope);
  Status CheckLifted(const OperatorRow& row, const Operation& operation,
                     const Scope& scope) const;
  StatusOr<Imported> Lookup(int value, Scope& scope);
  Status TakeOperands(int64_t count);
  // Returns a value as an operand. The operand, with all members of a tuple, is
  // charged to the limit of operands.
  StatusOr<Imported> Operand(int value, Scope& scope);

  const Module& module_;
  const frontends::ImportOptions& options_;
  graph::GraphBuilder builder_;
  frontends::ImportSteps steps_{options_.progress};
  int64_t imported_operands_ = 0;
  std::map<std::string, int> output_names_;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_GRAPH_IMPORTER_H_
