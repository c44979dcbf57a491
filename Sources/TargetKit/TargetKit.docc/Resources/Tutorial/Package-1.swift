// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "TeaShop",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [.package(name: "TargetKit", path: "../TargetKit")],
    targets: [
        .executableTarget(
            name: "TeaShop",
            dependencies: [.product(name: "TargetKit", package: "TargetKit")]
        ),
        .testTarget(
            name: "TeaShopTests",
            dependencies: ["TeaShop", .product(name: "TargetKitTesting", package: "TargetKit")]
        ),
    ]
)
