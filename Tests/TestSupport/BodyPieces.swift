// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting

extension ResponseBody {
    /// A body that comes in those pieces, and then fails, if it is to.
    package init(pieces: [Data], failure: (any Error)? = nil) {
        let rest = Locked(pieces[...])
        self.init {
            if let piece = rest.withLock({ $0.popFirst() }) { return piece }
            if let failure { throw failure }
            return nil
        }
    }

    package init(_ text: String, failure: (any Error)? = nil) {
        self.init(pieces: text.isEmpty ? [] : [Data(text.utf8)], failure: failure)
    }
}

extension AsyncSequence {
    /// All elements, and the error that the sequence has ended with.
    package func collected() async -> ([Element], (any Error)?) {
        var elements: [Element] = []
        do {
            for try await element in self { elements.append(element) }
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }
}

extension ResponseStream {
    package init(_ text: String) {
        self.init(statusCode: 200, body: ResponseBody(text))
    }
}

extension Data {
    /// The bytes uncut, cut in two at every place, in three around every byte, and byte by byte.
    package var cuttings: [[Data]] {
        var cuttings = [[self], map { Data([$0]) }]
        for place in indices {
            let (front, back) = (self[..<place], self[place...])
            cuttings.append([front, back])
            cuttings.append([front, back.prefix(1), back.dropFirst()])
        }
        return cuttings.map { pieces in pieces.filter { !$0.isEmpty } }
    }

    /// The bytes in pieces of 1 to 12.
    package func cut(with generator: inout SeededGenerator) -> [Data] {
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
package final class LifetimeProbe: Sendable {
    private let freed: Tally

    package init(_ freed: Tally) {
        self.freed = freed
    }

    deinit {
        freed.add()
    }
}
