/* Runs a model that vm-prejit wrote as model.c: reads input.bin, writes
 * output.bin, and prints what the run took.
 *
 * The model has one input and one result. */
#include "board.h"
#include "model.h"

uint32_t stack_used(void); /* of startup.c */

static MODEL_IN0_TYPE input[MODEL_IN0_ELEMENTS];
static MODEL_OUT0_TYPE output[MODEL_OUT0_ELEMENTS];

static void print_line(const char* what, uint32_t number, const char* unit) {
  print(what);
  print_number(number);
  print(unit);
}

int main(void) {
  if (read_file("input.bin", input, sizeof input) != 0) {
    print_line("input.bin: expected a file of ", sizeof input,
               " bytes, found none\n");
    return 1;
  }
  const uint32_t begin = ticks();
  const int error = model_run(input, output);
  const uint32_t took = ticks() - begin;
  if (error != 0) {
    print_line("model_run: expected 0, found error ", (uint32_t)error, "\n");
    return 1;
  }
  size_t best = 0;
  for (size_t i = 1; i < MODEL_OUT0_ELEMENTS; ++i) {
    if (output[i] > output[best]) best = i;
  }
  print_line("largest of ", MODEL_OUT0_ELEMENTS, " results: number ");
  print_line("", best, "\n");
  print_line("ticks of 40 ns: ", took, "\n");
  print_line("stack: ", stack_used(), " bytes\n");
  if (write_file("output.bin", output, sizeof output) != 0) {
    print("output.bin: it cannot be written\n");
    return 1;
  }
  return 0;
}
