// swift-tools-version: 6.0

import PackageDescription

// The publishers where there is no Combine: their very files, built against OpenCombine. TargetKit itself never names a
// package.
//
//     swift test --package-path Tests/CombineTests
let package = Package(
    name: "CombineTests",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "TargetKit", path: "../.."),
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
    ],
    targets: [
        // Links to the files in Sources/Combine, in a target whose name is another one than theirs, and to `Locked` in
        // Sources/Support, because it is not public.
        .target(
            name: "ProviderPublishers",
            dependencies: [.product(name: "TargetKit", package: "TargetKit"), "OpenCombine"],
            // Not `canImport`, by which TargetKit would take OpenCombine for its own when both are built side by side.
            swiftSettings: [.define("TARGETKIT_OPENCOMBINE")]
        ),
        // Links to files in Sources/Testing that are not public, with `Locked`.
        .target(name: "PublisherSupport", dependencies: [.product(name: "TargetKit", package: "TargetKit")]),
        .testTarget(
            name: "PublisherTests",
            dependencies: [
                "ProviderPublishers", "PublisherSupport", .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitJSON", package: "TargetKit"), "OpenCombine",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
