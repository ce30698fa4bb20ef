// swift-tools-version:5.7
// The runtime as a Swift package; Ember.xcframework is made by build_xcframework.sh (README.md).
import PackageDescription

let package = Package(
  name: "Ember",
  platforms: [.iOS(.v14), .macOS(.v11)],
  products: [.library(name: "Ember", targets: ["Ember"])],
  targets: [
    // The C API (ember.h, as module CEmber) with the runtime inside.
    .binaryTarget(name: "CEmber", path: "Ember.xcframework"),
    .target(name: "Ember", dependencies: ["CEmber"], linkerSettings: [.linkedLibrary("c++")]),
    .executableTarget(name: "Classify", dependencies: ["Ember"]),
  ])
