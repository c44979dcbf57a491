// SPDX-License-Identifier: MIT
import Foundation
import TargetKitTesting

extension Fixture {
    /// Creates a fixture of this folder's `Files`, by the name that the README's table lists.
    public init(shared name: String) {
        self.init(name, in: Bundle.module.bundleURL.appendingPathComponent("Files"))
    }
}
