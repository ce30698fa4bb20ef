// Small models that together use everything that the reader reads: for tests of
// robustness, and as seeds of fuzzing.
#ifndef EMBER_FRONTENDS_TENSORFLOW_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_TENSORFLOW_TESTING_SAMPLE_MODELS_H_

#include <string>
#include <vector>

#include "frontends/tensorflow/testing/checkpoint_writer.h"

namespace ember::tensorflow {

// Returns the names of the samples: layers, loop (control flow of TensorFlow
// 1), functions (TensorFlow 2) and text (a GraphDef in text form).
std::vector<std::string> SampleModelNames();
std::string SampleModel(const std::string& name);

// Returns a SavedModel of version 2 with two variables: "scale" ([2]) is read,
// and "count" ([]) is assigned by its signature "count". SampleCheckpoint
// returns its checkpoint.
SavedModel SampleSavedModel();
TestCheckpoint SampleCheckpoint(bool compress);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_TESTING_SAMPLE_MODELS_H_
