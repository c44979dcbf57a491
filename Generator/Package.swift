// swift-tools-version: 6.1

import PackageDescription

// A package of its own, so that TargetKit itself has no dependencies. It doesn't depend on TargetKit either.
let package = Package(
    name: "TargetKitGenerator",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "targetkit-openapi", targets: ["targetkit-openapi"]),
        .plugin(name: "GenerateTargets", targets: ["GenerateTargets"]),
        .plugin(name: "TargetGeneratorPlugin", targets: ["TargetGeneratorPlugin"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    ],
    targets: [
        .target(name: "OpenAPIDocument", dependencies: [.product(name: "Yams", package: "Yams")]),
        .target(name: "TargetGenerator", dependencies: ["OpenAPIDocument"]),
        .executableTarget(
            name: "targetkit-openapi",
            dependencies: [
                "OpenAPIDocument", "TargetGenerator",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .plugin(
            name: "GenerateTargets",
            capability: .command(
                intent: .custom(verb: "generate-targets", description: "Writes targets from OpenAPI documents."),
                permissions: [.writeToPackageDirectory(reason: "It writes Swift files beside targetkit-openapi.json.")]
            ),
            dependencies: ["targetkit-openapi"]
        ),
        .plugin(
            name: "TargetGeneratorPlugin",
            capability: .buildTool(),
            dependencies: ["targetkit-openapi"]
        ),
        .testTarget(name: "OpenAPIDocumentTests", dependencies: ["OpenAPIDocument"]),
        .testTarget(
            name: "TargetGeneratorTests",
            dependencies: ["OpenAPIDocument", "TargetGenerator"],
            resources: [.copy("Documents")]
        ),
    ]
)
