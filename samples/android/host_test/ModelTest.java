import dev.ember.Model;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;

/** ModelTest MODEL.vmfb [KERNELS.so]: the digits model by dev.ember.Model, and what it refuses, on this machine's Java. */
public final class ModelTest {
  /** That a shared object's kernels run, and give what the interpreter does. */
  private static void checkKernels(ByteBuffer module, String kernels) {
    float[][] scores = new float[2][10];
    for (int i = 0; i < 2; ++i) {
      try (Model model = i == 0 ? new Model(module, 1) : new Model(module, 1, kernels)) {
        String wanted = i == 0 ? "the module has no native kernels" : "native kernels for 5 of 5 dispatches";
        check(model.nativeKernels().startsWith(wanted), "kernels, found " + model.nativeKernels());
        ByteBuffer pixels = Model.bytes(28 * 28 * 4);
        for (int p = 0; p < 28 * 28; ++p) pixels.putFloat(4 * p, (p % 16) / 15f);
        model.setInput(0, pixels, 1, 1, 28, 28);
        model.run();
        model.result(0).asFloatBuffer().get(scores[i]);
      }
    }
    for (int d = 0; d < 10; ++d) check(Math.abs(scores[0][d] - scores[1][d]) < 1e-5, "kernels give other results");
  }

  public static void main(String[] arguments) throws Exception {
    ByteBuffer module;
    try (FileChannel file = FileChannel.open(Path.of(arguments[0]))) {
      module = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
    }
    Model closed;
    try (Model model = new Model(module, 2)) {
      refused("input", model::run);
      check(model.inputCount() == 1 && model.resultCount() == 1, "one input, one result");
      check(model.inputName(0).equals("image"), "the input's name");
      check(Arrays.equals(model.inputDims(0), new long[] {-1, 1, 28, 28}), "its dims");
      ByteBuffer pixels = Model.bytes(2 * 28 * 28 * 4);
      for (int i = 0; i < 2 * 28 * 28; ++i) pixels.putFloat(4 * i, (i % 16) / 15f);
      model.setInput(0, pixels, 2, 1, 28, 28);
      // What was given is kept, and read in each run.
      pixels = null;
      System.gc();
      for (int run = 0; run < 3; ++run) model.run();
      check(Arrays.equals(model.resultDims(0), new long[] {2, 10}), "the result's dims");
      ByteBuffer result = model.result(0);
      check(result.isReadOnly() && result.remaining() == 2 * 10 * 4, "the result's bytes");
      for (int image = 0; image < 2; ++image) {
        float sum = 0;
        for (int i = 0; i < 10; ++i) sum += result.getFloat(4 * (10 * image + i));
        check(Math.abs(sum - 1) < 1e-5, "probabilities add up, found " + sum);
      }

      refused("index", () -> model.result(1));
      refused("index", () -> model.inputName(-1));
      refused("3136 bytes", () -> model.setInput(0, Model.bytes(12), 1, 1, 28, 28));
      refused("32 dims", () -> model.setInput(0, Model.bytes(4), new long[33]));
      refused("direct buffer", () -> model.setInput(0, ByteBuffer.allocate(4), 1));
      // A shape is only compared with the model's when it runs.
      model.setInput(0, Model.bytes(28 * 28 * 4), 1, 28, 28);
      refused("Nx1x28x28xf32", model::run);
      model.cancel();
      closed = model;
    }
    refused("closed", closed::run);
    if (arguments.length > 1) checkKernels(module, arguments[1]);
    refused("no_such_kernels.so", () -> new Model(module, 1, "no_such_kernels.so"));
    refused("module", () -> new Model(Model.bytes(100), 1));
    refused("direct buffer", () -> new Model(ByteBuffer.wrap(new byte[100]), 1));
    System.out.println("ModelTest: all checks passed");
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError("expected: " + what);
  }

  private static void refused(String message, Runnable call) {
    try {
      call.run();
    } catch (Model.EmberException | IllegalStateException | IllegalArgumentException e) {
      System.out.println("refused: " + e.getMessage());
      check(e.getMessage().contains(message), "a message with \"" + message + "\", found: " + e.getMessage());
      return;
    }
    throw new AssertionError("expected an exception with \"" + message + "\"");
  }
}
