// SPDX-License-Identifier: MIT
// swift-format-ignore-file
import Foundation

// Not Sendable before macOS 14's SDK.
@available(macOS 10, *)
open class NSImage: NSObject {
    public init?(data: Data) { return nil }
    public init?(contentsOfFile fileName: String) { return nil }
}
