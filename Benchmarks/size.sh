#!/usr/bin/env bash
# How long a clean release build takes, and how much TargetKit adds to a stripped program: by itself, and with the plugins.
#
#     bash Benchmarks/size.sh
#
# It builds three small programs in a temporary folder: one without TargetKit, one with it, one with the plugins too. Times
# mean something on a machine that does nothing else; sizes always do.
set -euo pipefail
export LC_ALL=C.UTF-8

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/targetkit-size.XXXXXX")
trap 'rm -rf "$WORK"' EXIT

# manifest NAME PRODUCT…
manifest() {
    local name=$1 product dependency='' products=''
    shift
    (($# == 0)) || dependency=".package(name: \"TargetKit\", path: \"$ROOT\")"
    for product; do products+=".product(name: \"$product\", package: \"TargetKit\"), "; done
    cat <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "$name",
    platforms: [.macOS(.v13)],
    dependencies: [$dependency],
    targets: [.executableTarget(name: "$name", dependencies: [$products])],
    swiftLanguageModes: [.v6]
)
MANIFEST
}

program_without() {
    cat <<'SWIFT'
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Product: Codable { var id: Int }
let request = URLRequest(url: URL(filePath: CommandLine.arguments[0]))
print(request, try JSONDecoder().decode(Product.self, from: Data(#"{"id": 1}"#.utf8)))
SWIFT
}

program_with() {
    cat <<'SWIFT'
import Foundation
import TargetKit

struct Product: Codable { var id: Int }

enum Shop: RoutedTarget {
    case product(Int)
    case create(String)

    var baseURL: URL { URL(filePath: CommandLine.arguments[0]) }
    var route: Route {
        switch self {
        case .product(let id): .get("/products/\(id)")
        case .create: .post("/products")
        }
    }
    var task: HTTPTask {
        switch self {
        case .product: .plain
        case .create(let name): .json(["name": .string(name)])
        }
    }
}
SWIFT
}

core_main() {
    cat <<'SWIFT'
let provider = Provider<Shop>()
print(try await provider.request(.product(1), as: Product.self))
print(try await provider.request(.create("tea")).statusCode)
SWIFT
}

plugins_main() {
    cat <<'SWIFT'
let plugins: [any Plugin] = [
    AccessTokenPlugin { _ in "token" }, RetryPlugin(), NetworkLoggerPlugin(), NetworkActivityPlugin { _, _ in },
]
let provider = Provider<Shop>(plugins: plugins)
print(try await provider.request(.product(1), as: Product.self))
print(try await provider.request(.create("tea")).statusCode)
SWIFT
}

# build NAME: leaves the seconds of the build and the bytes of the stripped program in SECONDS_OF and BYTES_OF.
declare -A SECONDS_OF BYTES_OF
build() {
    local name=$1 start end
    start=$(date +%s.%N)
    (cd "$WORK/$name" && swift build -c release) > "$WORK/$name.log" 2>&1 || {
        tail -n 40 "$WORK/$name.log"
        exit 1
    }
    end=$(date +%s.%N)
    strip -o "$WORK/$name.stripped" "$WORK/$name/.build/release/$name"
    SECONDS_OF[$name]=$(awk "BEGIN { printf \"%.1f\", $end - $start }")
    BYTES_OF[$name]=$(stat -c %s "$WORK/$name.stripped")
}

# line WHAT MEASURED UNIT GOAL
line() {
    local verdict
    verdict=$(awk "BEGIN { print ($2 <= $4) ? \"ok\" : \"MISS\" }")
    printf '%-50s%-12s%-12s%s\n' "$1" "$2 $3" "≤ $4" "$verdict"
    # For the report, which names the file.
    [[ -z ${TARGETKIT_FIGURES:-} ]] || printf \
        '{"figure":{"_0":{"what":"%s","measured":"%s","peer":"","figure":%s,"goal":"%s","isMet":%s}}}\n' \
        "$1" "$2 $3" "$2" "≤ $4" "$([[ $verdict == ok ]] && echo true || echo false)" >> "$TARGETKIT_FIGURES"
}

megabytes() { awk "BEGIN { printf \"%.2f\", (${BYTES_OF[$1]} - ${BYTES_OF[none]}) / 1e6 }"; }

for name in none core plugins; do mkdir -p "$WORK/$name/Sources/$name"; done
manifest none > "$WORK/none/Package.swift"
manifest core TargetKit > "$WORK/core/Package.swift"
manifest plugins TargetKit TargetKitPlugins > "$WORK/plugins/Package.swift"
program_without > "$WORK/none/Sources/none/main.swift"
{ program_with; core_main; } > "$WORK/core/Sources/core/main.swift"
{ echo "import TargetKitPlugins"; program_with; plugins_main; } > "$WORK/plugins/Sources/plugins/main.swift"

for name in none core plugins; do build "$name"; done
printf '%-50s%-12s%-12s\n' what measured goal
line "clean release build, core" "${SECONDS_OF[core]}" s 20
line "clean release build, with plugins" "${SECONDS_OF[plugins]}" s 32
line "added to a stripped program, core" "$(megabytes core)" MB 1.2
line "added to a stripped program, with plugins" "$(megabytes plugins)" MB 1.8
echo "A program without TargetKit: built in ${SECONDS_OF[none]} s, ${BYTES_OF[none]} bytes."
