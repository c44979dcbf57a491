// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "Demo",
    // What swift-argument-parser's `AsyncParsableCommand` and TargetKit need; the screens say themselves what they need.
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .executable(name: "shop", targets: ["shop"]),
        .executable(name: "cassette", targets: ["cassette"]),
        // For an app in Xcode.
        .library(name: "ShopScreens", targets: ["ShopScreens"]),
    ],
    dependencies: [
        .package(name: "TargetKit", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "shop",
            dependencies: [
                "ShopAPI", "ShopServer",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitJSON", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitTransfers", package: "TargetKit"),
                .product(name: "TargetKitOffline", package: "TargetKit"),
                .product(name: "TargetKitWebSocket", package: "TargetKit"),
                .product(name: "TargetKitDiagnostics", package: "TargetKit"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // A tool for developers: it makes a cassette for tests of a browser's HAR file.
        .executableTarget(
            name: "cassette",
            dependencies: [
                .product(name: "TargetKitTesting", package: "TargetKit"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // The calls, and a provider for each module.
        .target(
            name: "ShopAPI",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitJSON", package: "TargetKit"),
                .product(name: "TargetKitOffline", package: "TargetKit"),
            ]
        ),
        // View models, and their screens in SwiftUI on Apple's systems.
        .target(
            name: "ShopScreens",
            dependencies: [
                "ShopAPI",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitOffline", package: "TargetKit"),
                .product(name: "TargetKitDiagnostics", package: "TargetKit"),
            ]
        ),
        // The other end of the wire: it knows nothing of TargetKit.
        .target(name: "ShopServer", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "shop", "ShopAPI", "ShopServer",
                .product(name: "TargetKitJSON", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitTransfers", package: "TargetKit"),
                .product(name: "TargetKitTesting", package: "TargetKit"),
                .product(name: "TargetKitContracts", package: "TargetKit"),
                .product(name: "TargetKitWebSocketTesting", package: "TargetKit"),
            ],
            // Read from the source folder.
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "CassetteTests",
            dependencies: [
                "cassette",
                .product(name: "TargetKitTesting", package: "TargetKit"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            // Read from the source folder.
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "ShopScreensTests",
            dependencies: [
                "ShopAPI", "ShopScreens",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitDiagnostics", package: "TargetKit"),
                .product(name: "TargetKitOffline", package: "TargetKit"),
                .product(name: "TargetKitTesting", package: "TargetKit"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
