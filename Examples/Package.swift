// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "Examples",
    // `Mutex`, which guards the demo's few shared values, exists from this version on.
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TargetKit", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "shop",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                "ShopServer",
            ]
        ),
        // The other end of the wire: it knows nothing of TargetKit.
        .target(name: "ShopServer", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
    ],
    swiftLanguageModes: [.v6]
)
