// Makes a module's inputs for the programs of this folder, on any processor.
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

// Makes the inputs of a run. Reads FOLDER/0.bin and so on: elements as they are
// in memory, for inputs without open dims. Without a folder it makes numbers
// from the run's number; integers of more than a byte are then 0, and open dims
// 2. Errors: kNotFound; kInvalidArgument for a file of another size.
StatusOr<std::vector<Tensor>> InputsOf(const Module& module,
                                       const std::string& folder, int run);

}  // namespace ember::vm

#endif  // EMBER_TESTS_NATIVE_INPUTS_H_
