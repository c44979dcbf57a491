// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "TargetKit", path: ".."),
        // For its transport on async-http-client.
        .package(name: "Examples", path: "../Examples"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        .target(name: "Measuring"),
        .target(
            name: "Workloads",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitResilience", package: "TargetKit"),
                .product(name: "TargetKitDiagnostics", package: "TargetKit"),
            ]
        ),
        // Counts the process's allocations: its `malloc` stands before libc's.
        .target(name: "Allocations"),
        // The peers in C: what libcurl does without TargetKit around it.
        .target(name: "CurlMulti", linkerSettings: [.linkedLibrary("curl")]),
        // Minimal servers: one answers everything, one never answers.
        .target(name: "Loopback"),
        // A server of WebSockets, a client on plain sockets, and one on libcurl.
        .target(name: "WebSocketPeers", linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "encoding",
            dependencies: ["Measuring", "CurlMulti", "Loopback", .product(name: "TargetKit", package: "TargetKit")]
        ),
        .executableTarget(
            name: "responses",
            dependencies: [
                "Measuring", .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitJSON", package: "TargetKit"),
            ]
        ),
        .executableTarget(
            name: "calls",
            dependencies: [
                "Measuring", "Allocations", "Workloads", .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitOffline", package: "TargetKit"),
                .product(name: "TargetKitTesting", package: "TargetKit"),
                .product(name: "TargetKitMoya", package: "TargetKit"),
            ]
        ),
        .executableTarget(
            name: "counts",
            dependencies: [
                "Measuring", "Allocations", "Workloads", "Loopback", .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitOffline", package: "TargetKit"),
            ]
        ),
        .executableTarget(
            name: "network",
            dependencies: [
                "Measuring", "Workloads", "CurlMulti", "Loopback",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitTransfers", package: "TargetKit"),
                .product(name: "AsyncHTTPClientTransport", package: "Examples"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ]
        ),
        // Runs the others and collects what they measure.
        .executableTarget(name: "report", dependencies: ["Measuring"]),
        .executableTarget(
            name: "websocket",
            dependencies: [
                "Measuring", "WebSocketPeers", .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitWebSocket", package: "TargetKit"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOWebSocket", package: "swift-nio"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
