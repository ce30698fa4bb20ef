package dev.ember;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A model that runs: a module (model.vmfb) and a session of it.
 *
 * <pre>
 *   try (Model model = new Model(bytes, 0)) {
 *     ByteBuffer pixels = Model.bytes(28 * 28 * 4);
 *     ...
 *     model.setInput(0, pixels, 1, 1, 28, 28);
 *     model.run();
 *     float first = model.result(0).asFloatBuffer().get(0);
 *   }
 * </pre>
 *
 * Elements are never copied: inputs are read from the direct buffers that setInput was given, which the model keeps
 * alive, and results are views of the model's memory. One thread at a time, but for cancel().
 *
 * Modules need not be trusted: each is verified when it is loaded. What goes wrong is an EmberException of one line.
 */
public final class Model implements AutoCloseable {
  static {
    System.loadLibrary("ember_jni");
  }

  /** What the runtime says that was wrong. */
  public static final class EmberException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public EmberException(String message) {
      super(message);
    }
  }

  // Of the native side; 0: closed.
  private long handle;
  // The module's bytes and the inputs: native code reads them where they are.
  private final ByteBuffer module;
  private final ByteBuffer[] inputs;

  /**
   * @param module a direct buffer with the contents of a .vmfb file, from its position to its limit; an asset that is
   *     mapped, or {@link #bytes} filled with what was read
   * @param threads that compute; 0: one per core
   */
  public Model(ByteBuffer module, int threads) {
    this(module, threads, null);
  }

  /**
   * @param kernels of this module, in a shared object of the app's jniLibs, such as "libmodel_kernels.so"; null: the
   *     interpreter runs all of it
   */
  public Model(ByteBuffer module, int threads, String kernels) {
    this.module = direct(module);
    this.handle = create(this.module, this.module.remaining(), threads, kernels);
    this.inputs = new ByteBuffer[inputCount(handle)];
  }

  /** One line, for people: how much of the model its kernels run, or why they do not. */
  public String nativeKernels() {
    return nativeKernels(open());
  }

  /** Memory for elements, in the order of bytes that the runtime takes. */
  public static ByteBuffer bytes(int size) {
    return ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
  }

  public int inputCount() {
    return inputs.length;
  }

  public int resultCount() {
    return resultCount(open());
  }

  public String inputName(int index) {
    return inputName(open(), index);
  }

  /** -1: any extent. */
  public long[] inputDims(int index) {
    return inputDims(open(), index);
  }

  /** Elements from the buffer's position to its limit, row-major, of the type that the model has. */
  public void setInput(int index, ByteBuffer elements, long... dims) {
    ByteBuffer view = direct(elements);
    setInput(open(), index, view, view.remaining(), dims);
    inputs[index] = view;
  }

  public void run() {
    run(open());
  }

  /** Of the last run: valid until the next one, or until the model is closed. */
  public ByteBuffer result(int index) {
    return result(open(), index).asReadOnlyBuffer().order(ByteOrder.nativeOrder());
  }

  public long[] resultDims(int index) {
    return resultDims(open(), index);
  }

  /** On any thread while the model is open: ends the run that goes on, with an EmberException. */
  public void cancel() {
    cancel(open());
  }

  @Override
  public void close() {
    if (handle != 0) release(handle);
    handle = 0;
  }

  private long open() {
    if (handle == 0) throw new IllegalStateException("this model is closed");
    return handle;
  }

  private static ByteBuffer direct(ByteBuffer buffer) {
    if (!buffer.isDirect()) throw new IllegalArgumentException("expected a direct buffer (Model.bytes), found another");
    return buffer.slice().order(ByteOrder.nativeOrder());
  }

  private static native long create(ByteBuffer module, long size, int threads, String kernels);

  private static native String nativeKernels(long handle);

  private static native void release(long handle);

  private static native int inputCount(long handle);

  private static native int resultCount(long handle);

  private static native String inputName(long handle, int index);

  private static native long[] inputDims(long handle, int index);

  private static native void setInput(long handle, int index, ByteBuffer elements, long size, long[] dims);

  private static native void run(long handle);

  private static native ByteBuffer result(long handle, int index);

  private static native long[] resultDims(long handle, int index);

  private static native void cancel(long handle);
}
