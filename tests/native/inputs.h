// What programs of this folder give a module, on any processor.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<Tensor> inputs,
//                          InputsOf(*module, "", /*run=*/0));
#ifndef EMBER_TESTS_NATIVE_INPUTS_H_
#define EMBER_TESTS_NATIVE_INPUTS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

// From FOLDER/0.bin and so on: elements as they lie in memory, of inputs
// without open dims. Without a folder: numbers that the run's number makes,
// where integers of more than a byte are 0 and open dims 2. Errors: NotFound,
// InvalidArgument for a file of another size.
StatusOr<std::vector<Tensor>> InputsOf(const Module& module,
                                       const std::string& folder, int run);

}  // namespace ember::vm

#endif  // EMBER_TESTS_NATIVE_INPUTS_H_
