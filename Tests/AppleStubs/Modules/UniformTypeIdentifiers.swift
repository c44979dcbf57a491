// SPDX-License-Identifier: MIT
// swift-format-ignore-file

@available(macOS 11, iOS 14, tvOS 14, watchOS 7, *)
public struct UTType: Sendable {
    public static var data: UTType { UTType() }
    init() {}
    public init?(filenameExtension: String, conformingTo supertype: UTType = .data) { return nil }
    public var preferredMIMEType: String? { return nil }
}
