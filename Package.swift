// swift-tools-version: 6.0

import PackageDescription

// Apple's privacy manifests, for the archive of an app. On Linux they would add an unused bundle beside every program. This
// condition is about the system that builds.
#if os(Linux)
let privacyManifest: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#else
let privacyManifest: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
#endif

let package = Package(
    name: "TargetKit",
    defaultLocalization: "en",
    // `Duration` and `Clock`, which the public API speaks, exist from these versions on.
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "TargetKit", targets: ["TargetKit"]),
        .library(name: "TargetKitPlugins", targets: ["TargetKitPlugins"]),
        .library(name: "TargetKitResilience", targets: ["TargetKitResilience"]),
        .library(name: "TargetKitCombine", targets: ["TargetKitCombine"]),
        .library(name: "TargetKitJSON", targets: ["TargetKitJSON"]),
        .library(name: "TargetKitTransfers", targets: ["TargetKitTransfers"]),
        .library(name: "TargetKitOffline", targets: ["TargetKitOffline"]),
        .library(name: "TargetKitDiagnostics", targets: ["TargetKitDiagnostics"]),
        .library(name: "TargetKitWebSocket", targets: ["TargetKitWebSocket"]),
        .library(name: "TargetKitWebSocketTesting", targets: ["TargetKitWebSocketTesting"]),
        .library(name: "TargetKitTesting", targets: ["TargetKitTesting"]),
        .library(name: "TargetKitTestingTraits", targets: ["TargetKitTestingTraits"]),
        .library(name: "TargetKitContracts", targets: ["TargetKitContracts"]),
        .library(name: "TargetKitTransportConformance", targets: ["TargetKitTransportConformance"]),
        .library(name: "TargetKitMoya", targets: ["TargetKitMoya"]),
    ],
    targets: [
        // TargetKit's own declarations, so that a build does not need libcurl's development package. Sources that call
        // libcurl, zlib, epoll or rtnetlink have the condition `os(Linux)`, as these dependencies have. It is also true for
        // the static Linux SDK, and false for Android, whose transport is FoundationNetworking's URLSession: the Android
        // SDK has libcurl only within it.
        .systemLibrary(name: "CTargetKitCurl"),
        // What the core uses of locks, texts, digests, dates and files, for each target: nothing there is public.
        .target(
            name: "_TargetKitSupport",
            dependencies: [.target(name: "CTargetKitCurl", condition: .when(platforms: [.linux]))],
            path: "Sources/Support",
            exclude: privacyManifest.excluded,
            resources: privacyManifest.resources
        ),
        // What several targets use and the core doesn't: SHA-256, dates, compression, and files that are replaced as a whole.
        .target(
            name: "_TargetKitFiles",
            dependencies: [
                "_TargetKitSupport", .target(name: "CTargetKitCurl", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Files"
        ),
        // Files of records, for the targets that keep them.
        .target(name: "_TargetKitStorage", dependencies: ["_TargetKitFiles"], path: "Sources/Storage"),
        .target(
            name: "TargetKit",
            dependencies: [
                "_TargetKitSupport", .target(name: "CTargetKitCurl", condition: .when(platforms: [.linux])),
            ],
            exclude: privacyManifest.excluded,
            resources: privacyManifest.resources
        ),
        // Without a product: those that take a `Redaction` export it.
        .target(name: "_TargetKitRedaction", dependencies: ["TargetKit"], path: "Sources/Redaction"),
        .target(
            name: "TargetKitPlugins",
            dependencies: ["TargetKit", "_TargetKitRedaction", "_TargetKitFiles"],
            path: "Sources/Plugins",
            exclude: privacyManifest.excluded,
            resources: privacyManifest.resources
        ),
        .target(
            name: "TargetKitResilience",
            dependencies: ["TargetKit", "TargetKitPlugins", "_TargetKitFiles"],
            path: "Sources/Resilience"
        ),
        .target(name: "TargetKitCombine", dependencies: ["TargetKit", "TargetKitPlugins"], path: "Sources/Combine"),
        .target(name: "TargetKitJSON", dependencies: ["TargetKit", "_TargetKitFiles"], path: "Sources/JSON"),
        .target(
            name: "TargetKitTransfers",
            dependencies: ["TargetKit", "TargetKitPlugins", "_TargetKitStorage"],
            path: "Sources/Transfers",
            exclude: privacyManifest.excluded,
            resources: privacyManifest.resources
        ),
        .target(
            name: "TargetKitOffline",
            dependencies: ["TargetKit", "TargetKitPlugins", "_TargetKitStorage"],
            path: "Sources/Offline"
        ),
        .target(
            name: "TargetKitDiagnostics",
            dependencies: ["TargetKit", "_TargetKitRedaction", "_TargetKitFiles", "TargetKitPlugins"],
            path: "Sources/Diagnostics"
        ),
        .target(
            name: "TargetKitWebSocket",
            dependencies: ["TargetKit", "TargetKitPlugins", "_TargetKitStorage"],
            path: "Sources/WebSocket"
        ),
        .target(
            name: "TargetKitTesting",
            dependencies: ["TargetKit", "TargetKitJSON", "_TargetKitRedaction", "_TargetKitFiles"],
            path: "Sources/Testing"
        ),
        // Apart, because it links Swift Testing, which no app has, and a development build can have TargetKitTesting.
        .target(name: "TargetKitTestingTraits", dependencies: ["TargetKitTesting"], path: "Sources/TestingTraits"),
        .target(
            name: "TargetKitWebSocketTesting",
            dependencies: ["TargetKitWebSocket", "TargetKitTesting"],
            path: "Sources/WebSocketTesting"
        ),
        .target(
            name: "TargetKitContracts",
            dependencies: ["TargetKitJSON", "TargetKitTesting"],
            path: "Sources/Contracts"
        ),
        .target(
            name: "TargetKitTransportConformance",
            dependencies: ["TargetKit", "TargetKitTesting"],
            path: "Sources/TransportConformance"
        ),
        .target(
            name: "TargetKitMoya",
            dependencies: ["TargetKit", "_TargetKitRedaction", "_TargetKitFiles", "TargetKitPlugins"],
            path: "Sources/MoyaCompatibility"
        ),
        .target(
            name: "Fixtures",
            dependencies: ["TargetKitTesting"],
            path: "Fixtures",
            exclude: ["README.md"],
            sources: ["Fixture.swift"],
            resources: [.copy("Files")]
        ),
        .target(
            name: "TestSupport",
            dependencies: ["TargetKit", "TargetKitJSON", "TargetKitTesting"],
            path: "Tests/TestSupport"
        ),
        .target(
            name: "PluginsTestSupport",
            dependencies: ["TargetKitPlugins", "TargetKitTesting", "TestSupport"],
            path: "Tests/PluginsTestSupport"
        ),
        .testTarget(name: "SupportTests", dependencies: ["_TargetKitSupport", "TargetKitTesting", "TestSupport"]),
        .testTarget(name: "FilesTests", dependencies: ["_TargetKitFiles", "TargetKitTesting", "TestSupport"]),
        .testTarget(name: "StorageTests", dependencies: ["_TargetKitStorage", "TestSupport"]),
        .testTarget(
            name: "TargetKitTests",
            dependencies: [
                "TargetKit", "TargetKitJSON", "TargetKitPlugins", "TargetKitCombine", "TargetKitTransfers",
                "TargetKitTesting", "TargetKitTransportConformance", "TestSupport", "Fixtures",
            ]
        ),
        .testTarget(
            name: "JSONTests",
            dependencies: ["TargetKitJSON", "TargetKitPlugins", "TargetKitTesting", "TestSupport", "Fixtures"]
        ),
        .testTarget(
            name: "RedactionTests",
            dependencies: [
                "_TargetKitRedaction", "TargetKitPlugins", "TargetKitTesting", "PluginsTestSupport", "TestSupport",
            ]
        ),
        .testTarget(
            name: "PluginsTests",
            dependencies: [
                "TargetKitPlugins", "TargetKitJSON", "TargetKitTesting", "PluginsTestSupport", "TestSupport",
                "Fixtures",
            ]
        ),
        .testTarget(
            name: "ResilienceTests",
            dependencies: [
                "TargetKitResilience", "TargetKitPlugins", "TargetKitJSON", "TargetKitTesting", "PluginsTestSupport",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "TransfersTests",
            dependencies: ["TargetKitTransfers", "TargetKitTesting", "PluginsTestSupport", "TestSupport", "Fixtures"]
        ),
        .testTarget(
            name: "OfflineTests",
            dependencies: [
                "TargetKitOffline", "TargetKitTransfers", "TargetKitResilience", "TargetKitTesting",
                "_TargetKitStorage", "PluginsTestSupport", "TestSupport", "Fixtures",
            ]
        ),
        .testTarget(
            name: "DiagnosticsTests",
            dependencies: [
                "TargetKitDiagnostics", "TargetKitJSON", "TargetKitOffline", "TargetKitResilience", "TargetKitTesting",
                "PluginsTestSupport", "TestSupport", "Fixtures",
            ]
        ),
        .testTarget(
            name: "WebSocketTests",
            dependencies: [
                "TargetKitWebSocket", "TargetKitWebSocketTesting", "TargetKitPlugins", "TargetKitTesting",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "MoyaTests",
            dependencies: ["TargetKitMoya", "TargetKitPlugins", "TargetKitTesting", "TestSupport"]
        ),
        .testTarget(
            name: "TestingTests",
            dependencies: [
                "TargetKitPlugins", "TargetKitJSON", "TargetKitTesting", "TargetKitTestingTraits",
                "TargetKitTransportConformance", "TestSupport", "Fixtures",
            ],
            // Found beside the source file.
            exclude: ["Pages/Fixtures"]
        ),
        .testTarget(
            name: "ContractsTests",
            dependencies: ["TargetKitContracts", "TargetKitJSON", "TargetKitTesting", "TestSupport"],
            // Found beside the source file.
            exclude: ["Pages/Fixtures"]
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "TargetKitPlugins", "TargetKitResilience", "TargetKitJSON", "TargetKitTransfers", "TargetKitOffline",
                "TargetKitWebSocket", "TargetKitTesting", "TargetKitContracts", "TestSupport",
            ]
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TargetKitPlugins", "TargetKitResilience", "TargetKitJSON", "TargetKitTransfers", "TargetKitOffline",
                "TargetKitDiagnostics", "TargetKitTesting", "TargetKitTestingTraits", "PluginsTestSupport",
                "TestSupport", "Fixtures",
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// Code from Moya's and Alamofire's pages stays as it is written there.
for target in package.targets where target.type != .system && target.name != "MoyaTests" {
    target.swiftSettings = [.enableUpcomingFeature("ExistentialAny")]
}

// `TARGETKIT_TESTS=JSONTests swift test` builds and runs one test target, with what it needs.
if let tests = Context.environment["TARGETKIT_TESTS"] {
    package.targets.removeAll { $0.type == .test && $0.name != tests }
}
