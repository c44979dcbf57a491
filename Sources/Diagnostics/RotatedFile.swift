// SPDX-License-Identifier: MIT
import Foundation

extension URL {
    /// The name that this file gets when it reaches its size limit: `network.1.jsonl` for `network.jsonl`.
    var rotated: URL {
        let name = deletingPathExtension().lastPathComponent + ".1"
        return deletingLastPathComponent().appendingPathComponent(
            pathExtension.isEmpty ? name : "\(name).\(pathExtension)"
        )
    }
}
