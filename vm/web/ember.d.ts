/**
 * Runs Ember's modules (.vmfb) in a page, a worker or Node 18 and later.
 *
 *     import * as ember from 'ember-runtime';
 *     const session = await ember.load('digits.vmfb', { worker: true });
 *     const { probabilities } = await session.run({ image: new Float32Array(784) });
 *     session.dispose();
 *
 * A session runs one call at a time. Errors are an EmberError with one line of text, or the reason
 * of an AbortSignal.
 */

export type ElementType =
  | 'bool' | 'i8' | 'i16' | 'i32' | 'i64' | 'u8' | 'u16' | 'u32' | 'u64'
  | 'f16' | 'bf16' | 'f32' | 'f64' | 'f8e4m3fn' | 'f8e5m2';

/** The array that holds a tensor's elements. Elements of f16, bf16 and the 8-bit floats are bit patterns. */
export type ElementArray =
  | Uint8Array | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint16Array | Uint32Array
  | BigUint64Array | Float32Array | Float64Array;

/** A tensor: elements in row-major order, without gaps. */
export class Tensor {
  /** `data` is copied if it is no array of the type's kind. Its length must be the product of dims. */
  constructor(type: ElementType, data: ElementArray | ArrayLike<number>, dims: ArrayLike<number>);
  readonly type: ElementType;
  readonly data: ElementArray;
  readonly dims: number[];
}

export type ErrorCode =
  | 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'UNIMPLEMENTED' | 'DATA_LOSS' | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION' | 'INTERNAL' | 'CANCELLED';

export class EmberError extends Error {
  constructor(code: ErrorCode, message: string);
  readonly code: ErrorCode;
}

/** An input or result as the module declares it. An open extent is its symbol's name or a formula. */
export interface TensorInfo {
  readonly name: string;
  readonly type: ElementType;
  /** The meaning of the elements, such as "i4", if `type` only says how they are stored; otherwise "". */
  readonly logical: string;
  readonly dims: readonly (number | string)[];
}

/** A step of load(). In the stage 'download', `done` bytes have arrived; `total` is 0 if it is not known. */
export interface Progress {
  readonly stage: 'download' | 'verify' | 'kernels';
  readonly done: number;
  readonly total: number;
}

export interface LoadOptions {
  /** The device that runs the model. Only 'wasm' (also called 'cpu') exists. */
  device?: 'wasm' | 'cpu';
  /** Runs the session in a worker: the page stays responsive, and a run can be stopped. */
  worker?: boolean;
  /** False: the WebAssembly kernels in the module are not used. Default: true. */
  kernels?: boolean;
  /** A signal that stops the download or the compilation of kernels. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Name of a cache of the browser (CacheStorage) that keeps the module. Default: none. */
  cache?: string;
  /** Largest number of bytes that the model may use. Default: 4 GiB, the limit of WebAssembly. */
  memoryLimit?: number;
  /** Seconds after which a run ends with an error. Default: no limit. */
  maxSeconds?: number;
  /** True: the time of every dispatch is measured, for describe(). */
  profile?: boolean;
  /** The runtime (ember.wasm): a URL, bytes, or a compiled module. Default: the file in the folder of ember.js. */
  runtime?: string | URL | ArrayBuffer | Uint8Array | WebAssembly.Module;
}

export type Inputs = Record<string, Tensor | ElementArray>;

export interface DispatchInfo {
  readonly name: string;
  readonly nodes: string;
  readonly calls: number;
  readonly ns: number;
  /** The tier of the last call. 0: the dispatch was interpreted. 1 and 2: a kernel ran. */
  readonly tier: number;
  readonly plan: string;
}

export interface SessionInfo {
  /** One line that says how many dispatches have kernels. */
  readonly kernels: string;
  readonly kernelCount: number;
  readonly refused: readonly string[];
  readonly memory: { readonly arena: number; readonly pool: number; readonly peak: number };
  readonly dispatches: readonly DispatchInfo[];
  /** Bytes of the WebAssembly memory, which also holds the module. */
  readonly heapBytes: number;
}

export interface Session {
  readonly inputs: readonly TensorInfo[];
  readonly results: readonly TensorInfo[];
  readonly metadata: Readonly<Record<string, string>>;
  /** Targets for which the module has kernels. */
  readonly natives: readonly string[];
  readonly dispatches: number;
  /** Bytes of the model's constants. */
  readonly constants: number;
  /**
   * Runs the model. An array instead of a Tensor has the input's dims; one open extent follows from
   * the array's length. In a worker, `signal` stops a run: the run rejects at once, and the next one
   * loads the module again. Otherwise `signal` is only read before the run.
   */
  run(inputs: Inputs, options?: { signal?: AbortSignal }): Promise<Record<string, Tensor>>;
  describe(): SessionInfo | Promise<SessionInfo>;
  /** Frees all memory. A run that is in progress in a worker is stopped. */
  dispose(): void;
}

/** Loads a module and creates a session. `source` is a URL, a path (Node), the bytes, a Blob or a Response. */
export function load(
  source: string | URL | ArrayBuffer | ArrayBufferView | Blob | Response,
  options?: LoadOptions,
): Promise<Session>;
