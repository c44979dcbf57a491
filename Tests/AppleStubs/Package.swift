// swift-tools-version: 6.0

import PackageDescription

// Tests code for Apple's systems on Linux: the same source files, against stubs that follow Apple's documentation.
//
//     swift test --package-path Tests/AppleStubs
//
// `check` beside this file covers all sources, but only type-checks them.
let package = Package(
    name: "AppleStubs",
    targets: [
        .target(
            name: "Security",
            path: "Modules",
            exclude: [
                "AppKit.swift", "Combine.swift", "CryptoKit.swift", "Darwin.swift", "FoundationApple.swift",
                "Network.swift",
                "UIKit.swift", "UniformTypeIdentifiers.swift", "os.swift",
            ],
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        // Symbolic links to files in Sources/Plugins/Authentication/Stores and Sources/TargetKit/Encoding.
        .target(name: "TargetKit"),
        .target(name: "Keychain", dependencies: ["Security", "TargetKit"]),
        .testTarget(name: "KeychainTests", dependencies: ["Keychain", "Security"]),
    ],
    swiftLanguageModes: [.v6]
)
