// SPDX-License-Identifier: MIT
import Foundation

extension URL {
    /// The name of this file after it reaches its size limit, for example `network.1.jsonl` for `network.jsonl`.
    var rotated: URL {
        let name = deletingPathExtension().lastPathComponent + ".1"
        return deletingLastPathComponent().appendingPathComponent(
            pathExtension.isEmpty ? name : "\(name).\(pathExtension)"
        )
    }
}
