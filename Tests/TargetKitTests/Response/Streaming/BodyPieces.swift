// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

extension ResponseStream {
    init(_ text: String) {
        self.init(statusCode: 200, body: ResponseBody(text))
    }
}

extension Data {
    /// The bytes uncut, cut in two at every place, in three around every byte, and byte by byte.
    var cuttings: [[Data]] {
        var cuttings = [[self], map { Data([$0]) }]
        for place in indices {
            let (front, back) = (self[..<place], self[place...])
            cuttings.append([front, back])
            cuttings.append([front, back.prefix(1), back.dropFirst()])
        }
        return cuttings.map { pieces in pieces.filter { !$0.isEmpty } }
    }

    /// The bytes in pieces of 1 to 12.
    func cut(with generator: inout SeededGenerator) -> [Data] {
        var pieces: [Data] = []
        var rest = self[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...12, using: &generator))
            pieces.append(piece)
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}

/// Says when nobody holds it any more.
final class Token: Sendable {
    private let freed: Tally

    init(_ freed: Tally) {
        self.freed = freed
    }

    deinit {
        freed.add()
    }
}
