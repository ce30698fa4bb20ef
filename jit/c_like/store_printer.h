// Prints stores: all values and element numbers of a statement are computed
// before its first element is stored, in all lanes of a vector loop.
//
//   StorePrinter stores(nest, builder, expressions);
//   stores.Print(statement.stores);
//
// In a vector loop this takes two loops over the lanes, with an array between
// them for loaded values. If no store can change what the statement loads, one
// loop suffices.
//
// Not thread-safe.
#ifndef EMBER_JIT_C_LIKE_STORE_PRINTER_H_
#define EMBER_JIT_C_LIKE_STORE_PRINTER_H_

#include <string>
#include <vector>

#include "jit/c_like/expression_printer.h"
#include "jit/c_like/source_builder.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

class StorePrinter {
 public:
  StorePrinter(const loops::LoopNest& nest, SourceBuilder& builder,
               ExpressionPrinter& expressions)
      : nest_(nest), c_(builder), expressions_(expressions) {}

  void Print(const std::vector<loops::Store>& stores);

 private:
  // A store and the expressions of its operands. In a vector loop such an
  // expression may be an element of an array of lanes.
  struct Pending {
    const loops::Store* store = nullptr;
    std::string position;
    std::string value;
  };

  Pending Prepare(const loops::Store& store);
  void PrintLanes(const std::vector<loops::Store>& stores);
  // True if no store of the statement changes what the statement loads.
  bool IsApart(const std::vector<loops::Store>& stores) const;
  bool PositionHasLoad(const loops::Store& store);
  void Write(const Pending& pending);
  std::string Updated(const loops::Store& store, const std::string& element,
                      const std::string& value);

  const loops::LoopNest& nest_;
  SourceBuilder& c_;
  ExpressionPrinter& expressions_;
};

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_STORE_PRINTER_H_
