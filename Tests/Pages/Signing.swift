// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

nonisolated enum Bank: TargetType {
    case balance

    var baseURL: URL { URL(filePath: "/") }
    var path: RequestPath { "/balance" }
}

/// Stands for the HMAC of a cryptography library.
nonisolated struct Signature {
    init(key: UInt64) {}
    mutating func update(_ bytes: some Sequence<UInt8>) {}
    mutating func update(_ text: String) {}
    var text: String { "" }
}

nonisolated let key: UInt64 = 7
nonisolated let transport = StubTransport(.response(status: 200, data: Data()))
