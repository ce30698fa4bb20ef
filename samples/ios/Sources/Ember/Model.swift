import CEmber
import Foundation

/// What the runtime says that was wrong, in one line.
public struct EmberError: Error, CustomStringConvertible {
  public let description: String
}

/// A model that runs: a module (model.vmfb) and a session of it.
///
///     let model = try Model(contentsOf: Bundle.main.url(forResource: "model", withExtension: "vmfb")!)
///     let scores = try model.run(pixels, dims: [1, 1, 28, 28])
///
/// Modules need not be trusted: each is verified when it is loaded. One thread at a time.
public final class Model {
  private let api: EmberApi
  private var module: OpaquePointer?
  private var session: OpaquePointer?

  /// The file is mapped, not copied: it must not change while the model lives. threads: 0 is one per core.
  /// usesLinkedKernels: of this model, where the framework was built with some (build_xcframework.sh).
  public init(contentsOf url: URL, threads: Int32 = 0, usesLinkedKernels: Bool = false) throws {
    // The version that this file was written for: a newer library has it, too.
    guard let table = ember_get_api(5) else {
      throw EmberError(description: "expected version 5 or later of the runtime's API")
    }
    api = table.pointee
    try check(api.module_load_file(url.path, &module))
    if usesLinkedKernels {
      guard let kernels = ember_linked_kernels() else {
        throw EmberError(description: "expected a framework with kernels, found one without")
      }
      try check(api.module_add_kernels(module, kernels))
    }
    var options = EmberSessionOptions()
    options.struct_size = MemoryLayout<EmberSessionOptions>.size
    options.threads = threads
    // deinit releases the module if this throws: all properties are there.
    try check(api.session_create(module, &options, &session))
  }

  deinit {
    api.session_release(session)
    api.module_release(module)
  }

  /// Runs a model of one f32 input, and gives the elements of its first result.
  public func run(_ elements: [Float], dims: [Int64]) throws -> [Float] {
    try elements.withUnsafeBytes { bytes in
      try dims.withUnsafeBufferPointer { dims in
        var input = EmberTensor()
        input.type = EMBER_F32
        input.rank = Int32(dims.count)
        input.dims = dims.baseAddress
        input.data = bytes.baseAddress
        input.byte_size = bytes.count
        try check(api.session_set_input(session, 0, &input))
        // The session reads the elements where they are, so it runs before they may move.
        try check(api.session_run(session))
      }
    }
    var result = EmberTensor()
    try check(api.session_result(session, 0, &result))
    guard result.type == EMBER_F32, let data = result.data else {
      throw EmberError(description: "expected a result of f32")
    }
    return Array(UnsafeBufferPointer(
      start: data.assumingMemoryBound(to: Float.self), count: result.byte_size / MemoryLayout<Float>.size))
  }

  private func check(_ status: EmberStatus) throws {
    if status != EMBER_OK { throw EmberError(description: String(cString: api.error_message())) }
  }
}
