// swift-tools-version: 6.0

import PackageDescription

// Tests code for Apple's systems on Linux: the same source files, against stubs that follow Apple's documentation.
//
//     bash Tests/AppleStubs/package FOLDER && swift test --package-path FOLDER
//
// `package` beside this file adds the source files. `check` covers all sources, but only type-checks them.
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
        .target(name: "_TargetKitSupport"),
        .target(name: "_TargetKitFiles", dependencies: ["_TargetKitSupport"]),
        .target(name: "TargetKit"),
        .target(name: "Keychain", dependencies: ["Security", "TargetKit", "_TargetKitFiles"]),
        .testTarget(name: "KeychainTests", dependencies: ["Keychain", "Security"]),
    ],
    swiftLanguageModes: [.v6]
)
