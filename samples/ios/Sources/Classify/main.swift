// swift run Classify MODEL.vmfb: the digits model on an empty picture, on a Mac.
import Ember
import Foundation

guard CommandLine.arguments.count == 2 else {
  print("usage: Classify MODEL.vmfb")
  exit(2)
}
do {
  let model = try Model(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
  print(try model.run([Float](repeating: 0, count: 28 * 28), dims: [1, 1, 28, 28]))
} catch {
  print(error)
  exit(1)
}
