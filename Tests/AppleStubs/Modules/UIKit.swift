// SPDX-License-Identifier: MIT
// swift-format-ignore-file
import Foundation

@available(iOS 2, tvOS 9, watchOS 2, *)
open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) { return nil }
    public init?(contentsOfFile path: String) { return nil }
}
