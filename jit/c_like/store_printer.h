// Prints the stores of a statement: all values and element numbers, in all
// lanes of a vector loop, are computed before the first element is stored.
//
//   StorePrinter stores(nest, builder, expressions);
//   stores.Print(statement.stores);
//
// In a vector loop that takes a loop over the lanes that loads values into
// arrays, and another one that stores. If no store can change an element that
// the statement loads, one loop suffices.
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
  // A store, and the expressions of its element number and its value. In a
  // vector loop they may be elements of arrays with an element per lane.
  struct Pending {
    const loops::Store* store = nullptr;
    std::string position;
    std::string value;
  };

  Pending Prepare(const loops::Store& store);
  void PrintLanes(const std::vector<loops::Store>& stores);
  // True if no store of the statement can change an element that the statement
  // loads, and no two stores are to one buffer.
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
