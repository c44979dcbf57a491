// SPDX-License-Identifier: MIT
import Foundation

/// The executable at a path, or with a name in `PATH` or one of the other folders; `nil` if there is none.
public func executable(_ name: String, in others: [String] = []) -> URL? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":").map(String.init)
    let paths = name.contains("/") ? [name] : (folders + others).map { "\($0)/\(name)" }
    return paths.first(where: FileManager.default.isExecutableFile(atPath:)).map { URL(filePath: $0) }
}
