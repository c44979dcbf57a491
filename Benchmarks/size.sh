#!/usr/bin/env bash
# How long clean builds take, and how much TargetKit adds to a stripped program: by itself, and with the plugins.
#
#     bash Benchmarks/size.sh [--check] [MOYA]
#
# It builds three small programs in a temporary folder: one without TargetKit, one with it, one with the plugins too. The
# seconds on the clock mean something on a machine that does nothing else; sizes always do. Ratios compare the processor's
# time, which another program beside changes little.
#
# MOYA is the folder of a package named Moya, with Moya 15 and Alamofire 5 as targets and a product Moya, changed where
# they don't compile on this machine. A fourth program then makes the same calls through it, and each figure is compared,
# debug builds too.
# --check exits with status 1 if a figure misses its goal.
set -euo pipefail
export LC_ALL=C.UTF-8

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
WORK=$(mktemp -d "${TMPDIR:-/tmp}/targetkit-size.XXXXXX")
trap 'rm -rf "$WORK"' EXIT

CHECK=false PEER=''
for argument; do
    case $argument in
        --check) CHECK=true ;;
        -*) echo "size.sh [--check] [MOYA]" >&2 && exit 2 ;;
        *) PEER=$(cd "$argument" && pwd) ;;
    esac
done

# manifest NAME PACKAGE FOLDER PRODUCT…
manifest() {
    local name=$1 package=$2 folder=$3 product dependency='' products=''
    shift 3
    (($# == 0)) || dependency=".package(name: \"$package\", path: \"$folder\")"
    for product; do products+=".product(name: \"$product\", package: \"$package\"), "; done
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

moya_program() {
    cat <<'SWIFT'
import Foundation
import Moya

struct Product: Codable { var id: Int }

enum Shop: TargetType {
    case product(Int)
    case create(String)

    var baseURL: URL { URL(fileURLWithPath: CommandLine.arguments[0]) }
    var path: String {
        switch self {
        case .product(let id): return "/products/\(id)"
        case .create: return "/products"
        }
    }
    var method: Moya.Method {
        switch self {
        case .product: return .get
        case .create: return .post
        }
    }
    var task: Moya.Task {
        switch self {
        case .product: return .requestPlain
        case .create(let name): return .requestParameters(parameters: ["name": name], encoding: JSONEncoding.default)
        }
    }
    var headers: [String: String]? { nil }
}

let provider = MoyaProvider<Shop>(plugins: [AccessTokenPlugin { _ in "token" }, NetworkLoggerPlugin()])
provider.request(.product(1)) { result in print((try? result.get().map(Product.self)) as Any) }
provider.request(.create("tea")) { result in print((try? result.get().statusCode) as Any) }
RunLoop.main.run(until: Date(timeIntervalSinceNow: 1))
SWIFT
}

# build NAME: leaves what its builds take, as `seconds on the clock, seconds of the processor`, and the bytes of the stripped
# program.
declare -A DEBUG_OF RELEASE_OF BYTES_OF
build() {
    local name=$1
    [[ -z $PEER ]] || DEBUG_OF[$name]=$(seconds "$name" debug)
    RELEASE_OF[$name]=$(seconds "$name" release)
    strip -o "$WORK/$name.stripped" "$WORK/$name/.build/release/$name"
    BYTES_OF[$name]=$(stat -c %s "$WORK/$name.stripped")
}

# seconds NAME CONFIGURATION: builds it, and prints how long that takes: on the clock, and of the processor.
seconds() {
    local TIMEFORMAT='%R %U %S'
    { time (cd "$WORK/$1" && swift build -c "$2" > "$WORK/$1.log" 2>&1); } 2> "$WORK/$1.time" || {
        tail -n 40 "$WORK/$1.log" >&2
        exit 1
    }
    awk '{ printf "%.1f %.1f", $1, $2 + $3 }' "$WORK/$1.time"
}

clock() { echo "${1% *}"; }
processor() { echo "${1#* }"; }

missed=0
# line WHAT MEASURED UNIT GOAL
line() {
    local verdict
    verdict=$(awk "BEGIN { print ($2 <= $4) ? \"ok\" : \"MISS\" }")
    [[ $verdict == ok ]] || missed=$((missed + 1))
    printf '%-50s%-12s%-12s%s\n' "$1" "$2 $3" "≤ $4" "$verdict"
    # For the report, which names the file. A time of one round isn't judged there.
    [[ -z ${TARGETKIT_FIGURES:-} ]] || printf \
        '{"figure":{"_0":{"what":"%s","measured":"%s","peer":"","figure":%s,"rounds":%s,"goal":{"atMost":{"_0":%s}}}}}\n' \
        "$1" "$2 $3" "$2" "$([[ $1 == *build* ]] && echo "[$2]" || echo "[]")" "$4" >> "$TARGETKIT_FIGURES"
}

megabytes() { awk "BEGIN { printf \"%.2f\", (${BYTES_OF[$1]} - ${BYTES_OF[none]}) / 1e6 }"; }
# processors TABLE NAME: the time of the processor for NAME's build in one of the tables, by Moya's.
processors() {
    local -n table=$1
    ratio "$(processor "${table[$2]}")" "$(processor "${table[moya]}")"
}
ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

# program NAME PACKAGE FOLDER PRODUCT…: makes a package whose main.swift is read from standard input.
program() {
    mkdir -p "$WORK/$1/Sources/$1"
    manifest "$@" > "$WORK/$1/Package.swift"
    cat > "$WORK/$1/Sources/$1/main.swift"
}

program_without | program none TargetKit "$ROOT"
{ program_with; core_main; } | program core TargetKit "$ROOT" TargetKit
{ echo "import TargetKitPlugins"; program_with; plugins_main; } | program plugins TargetKit "$ROOT" TargetKit TargetKitPlugins
names=(none core plugins)
if [[ -n $PEER ]]; then
    moya_program | program moya Moya "$PEER" Moya
    names+=(moya)
fi

for name in "${names[@]}"; do build "$name"; done
printf '%-50s%-12s%-12s\n' what measured goal
line "clean release build, core" "$(clock "${RELEASE_OF[core]}")" s 20
line "clean release build, with plugins" "$(clock "${RELEASE_OF[plugins]}")" s 32
line "added to a stripped program, core" "$(megabytes core)" MB 1.2
line "added to a stripped program, with plugins" "$(megabytes plugins)" MB 1.8
if [[ -n $PEER ]]; then
    for name in core plugins; do
        [[ $name == core ]] && what=core release=2.1 debug=1.6 size=1.45 || what="with plugins" release=3.0 debug=1.8 size=2.3
        line "clean release build, $what" "$(processors RELEASE_OF $name)" "× Moya" $release
        line "clean debug build, $what" "$(processors DEBUG_OF $name)" "× Moya" $debug
        line "added to a stripped program, $what" "$(ratio "$(megabytes $name)" "$(megabytes moya)")" "× Moya" $size
    done
fi
for name in "${names[@]}"; do
    debug=${DEBUG_OF[$name]:+", debug in $(clock "${DEBUG_OF[$name]}") s ($(processor "${DEBUG_OF[$name]}") s)"}
    release="$(clock "${RELEASE_OF[$name]}") s ($(processor "${RELEASE_OF[$name]}") s of the processor)"
    echo "$name: release built in $release$debug; ${BYTES_OF[$name]} bytes."
done
! $CHECK || ((missed == 0))
