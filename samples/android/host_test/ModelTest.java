import dev.ember.Model;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;

/** ModelTest MODEL.vmfb: the digits model by dev.ember.Model, and what it refuses, on this machine's Java. */
public final class ModelTest {
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
