// Small models that between them have what the reader reads: for tests of
// robustness, and seeds of fuzzing.
#ifndef EMBER_FRONTENDS_TENSORFLOW_TESTING_SAMPLE_MODELS_H_
#define EMBER_FRONTENDS_TENSORFLOW_TESTING_SAMPLE_MODELS_H_

#include <string>
#include <vector>

#include "frontends/tensorflow/testing/checkpoint_writer.h"

namespace ember::tensorflow {

// layers, loop (version 1), functions (version 2), text.
std::vector<std::string> SampleModelNames();
std::string SampleModel(const std::string& name);

// A SavedModel of version 2, with a variable that is read ("scale", [2]) and
// one that its signature "count" assigns ("count", []), and the checkpoint to
// it.
SavedModel SampleSavedModel();
TestCheckpoint SampleCheckpoint(bool compress);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_TESTING_SAMPLE_MODELS_H_
