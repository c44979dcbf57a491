// swift-tools-version: 6.0

import PackageDescription

let package = Package(
    name: "Examples",
    // `Mutex`, which guards values that tests share, exists from this version on.
    platforms: [.macOS(.v15)],
    products: [
        // Benchmarks measures it beside TargetKit's own.
        .library(name: "AsyncHTTPClientTransport", targets: ["AsyncHTTPClientTransport"])
    ],
    dependencies: [
        .package(name: "TargetKit", path: ".."),
        .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
        .package(url: "https://github.com/CoreOffice/XMLCoder", exact: "0.18.2"),
    ],
    targets: [
        .target(
            name: "AsyncHTTPClientTransport",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(
            name: "DistributedSpan",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitDiagnostics", package: "TargetKit"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        // Named after what it adds, since the package's own module has the name of the folder.
        .target(
            name: "HTTPTypesConversion",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
            ],
            path: "Sources/HTTPTypes"
        ),
        // A cache and a cookie jar, with the public API only.
        .target(name: "SmallPlugins", dependencies: [.product(name: "TargetKit", package: "TargetKit")]),
        // Bodies of formats other than JSON, by the packages that people use for them.
        .target(
            name: "Formats",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "XMLCoder", package: "XMLCoder"),
            ]
        ),
        // A driver for S3's multipart upload, with the public API only.
        .target(name: "S3Upload", dependencies: [.product(name: "TargetKit", package: "TargetKit")]),
        // Generated from its document: `.ci/run` checks that the files are what the generator writes.
        .target(
            name: "GeneratedAPI",
            dependencies: [
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitJSON", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
            ],
            exclude: ["openapi.yaml", "targetkit-openapi.json"]
        ),
        // The server that the document describes; it knows nothing of TargetKit.
        .target(name: "TaskServer", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
        .testTarget(
            name: "GeneratedAPITests",
            dependencies: [
                "GeneratedAPI", "TaskServer",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
            ]
        ),
        .testTarget(
            name: "DistributedSpanTests",
            dependencies: [
                "DistributedSpan",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "TargetKitDiagnostics", package: "TargetKit"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "HTTPTypesTests",
            dependencies: [
                "HTTPTypesConversion",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]
        ),
        .testTarget(
            name: "SmallPluginsTests",
            dependencies: [
                "SmallPlugins",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitPlugins", package: "TargetKit"),
                .product(name: "FlyingFox", package: "FlyingFox"),
            ]
        ),
        .testTarget(
            name: "FormatsTests",
            dependencies: [
                "Formats",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "FlyingFox", package: "FlyingFox"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]
        ),
        .testTarget(
            name: "S3UploadTests",
            dependencies: ["S3Upload", .product(name: "TargetKit", package: "TargetKit")]
        ),
        .testTarget(
            name: "AsyncHTTPClientTransportTests",
            dependencies: [
                "AsyncHTTPClientTransport",
                .product(name: "TargetKit", package: "TargetKit"),
                .product(name: "TargetKitTesting", package: "TargetKit"),
                .product(name: "TargetKitTransportConformance", package: "TargetKit"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
