// swift-tools-version: 6.0

import PackageDescription

// What of Apple's systems can be tried where they are not: the very files, against stubs that do as Apple's documentation says.
//
//     swift test --package-path Tests/AppleStubs
//
// `check` beside this file goes further, and only compiles.
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
        // Links to the files in Sources/Plugins.
        .target(name: "Keychain", dependencies: ["Security"]),
        .testTarget(name: "KeychainTests", dependencies: ["Keychain", "Security"]),
    ],
    swiftLanguageModes: [.v6]
)
