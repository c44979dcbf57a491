// swift-tools-version: 6.2

import PackageDescription

let service: [Target.Dependency] = [
    .product(name: "TargetKit", package: "TargetKit"),
    .product(name: "TargetKitJSON", package: "TargetKit"),
    .product(name: "TargetKitPlugins", package: "TargetKit"),
]
let generator = Target.PluginUsage.plugin(name: "TargetGeneratorPlugin", package: "Generator")

// The settings of a new app in Xcode 26, and those with which code is checked most strictly.
let app: [SwiftSetting] = [
    .defaultIsolation(MainActor.self),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Targets that are generated while the package is built, and those of Admin by the command plugin before it.
let package = Package(
    name: "Calls",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "TargetKit", path: "../../.."),
        .package(name: "Generator", path: "../.."),
    ],
    targets: [
        .target(
            name: "Shop",
            dependencies: service,
            exclude: ["openapi.json", "targetkit-openapi.json"],
            plugins: [generator]
        ),
        .target(
            name: "Library",
            dependencies: service,
            exclude: ["openapi.json", "targetkit-openapi.json"],
            plugins: [generator]
        ),
        .target(
            name: "Edges",
            dependencies: service,
            exclude: ["edges.yaml", "targetkit-openapi.json"],
            swiftSettings: app,
            plugins: [generator]
        ),
        .target(
            name: "AppEdges",
            dependencies: service,
            exclude: ["targetkit-openapi.json"],
            swiftSettings: app + [.swiftLanguageMode(.v5)],
            plugins: [generator]
        ),
        .target(name: "Admin", dependencies: service, exclude: ["openapi.json", "targetkit-openapi.json"]),
        .testTarget(
            name: "EdgesTests",
            dependencies: ["Edges", "AppEdges", .product(name: "TargetKitTesting", package: "TargetKit")],
            exclude: ["targetkit-openapi.json"],
            plugins: [generator]
        ),
        .testTarget(name: "AdminTests", dependencies: ["Admin"]),
        .testTarget(
            name: "CallsTests",
            dependencies: [
                "Shop", "Library", "Admin", .product(name: "TargetKitContracts", package: "TargetKit"),
                .product(name: "TargetKitJSON", package: "TargetKit"),
                .product(name: "TargetKitTesting", package: "TargetKit"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
