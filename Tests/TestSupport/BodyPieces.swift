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
